# Prints each given line with all words that zsh's own completion offers in place of the line's last word.
# Arguments: a file with the completion script, and a file with the lines.
zmodload zsh/zpty
typeset -r setup=$TMPDIR/setup.zsh answer=$TMPDIR/answer
cat > $setup <<SETUP
source $1
bindkey -e
# Puts all matches into the line, and lists nothing.
offer-all() { _main_complete; compstate[insert]=all compstate[list]= }
zle -C offer-all complete-word offer-all
bindkey '^I' offer-all
show-line() { print -r -- "\$BUFFER" > $answer; BUFFER=; print -n -- '@@shown@@' }
zle -N show-line
bindkey '^T' show-line
PS1='@@ready@@'
SETUP
zpty shell zsh -f -i
zpty -w shell "source $setup"
# The prompt, and not what was typed.
zpty -r shell seen '*@@ready@@*'
for line in ${(f)"$(<$2)"}; do
  zpty -w -n shell "${line%.}"$'\t\x14'
  zpty -r shell seen '*@@shown@@*'
  print -r -- "$(<$answer)"
done
zpty -d shell
