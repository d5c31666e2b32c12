# What zsh's own completion offers after each of some lines, as somebody who types them and presses a key sees it.
# Arguments: a file with the script of completion; one with the lines. Prints, for each line, the line with all that was offered in place of its last word.
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
