import { type CompletionCommand, lookUps } from './tree.ts'

/** Returns the script for bash 4.4 or newer. The script does not start processes or evaluate typed text. */
export function bashScript(tree: readonly CompletionCommand[]): string {
  return `# Completion of portage for bash: source <(portage completion bash)
${lookUps(tree, { one: (text) => quoted([text]), list: quoted, words: (words) => quoted(words.map(({ name }) => name)) })}
_portage() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path= skip= word option= i
  local commands options valued choices file
  _portage_command ''
  for (( i = 1; i < COMP_CWORD; i++ )); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then skip=1; continue; fi
    if [[ -n $skip ]]; then skip=; option=; continue; fi
    if [[ " $valued " == *" $word "* ]]; then skip=1; option=$word; continue; fi
    if [[ " $commands " == *" $word "* ]]; then path="\${path:+$path }$word"; _portage_command "$path"; fi
  done
  if [[ $cur == '=' ]]; then cur=; fi
  COMPREPLY=()
  if [[ -n $skip ]]; then
    _portage_value "$path" "$option"
  elif [[ $cur == -* ]]; then
    choices=$options file=
  else
    choices="$commands $choices"
  fi
  if [[ -n $file ]]; then
    if type compopt &> /dev/null; then compopt -o filenames 2> /dev/null; fi
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  else
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$choices" -- "$cur")
  fi
}
complete -F _portage portage`
}

function quoted(words: readonly string[]): string {
  const unfit = words.find((word) => !/^[\w -]*$/.test(word))
  if (unfit !== undefined) throw new Error(`a shell would not take this as a word: ${unfit}`)
  return `'${words.join(' ')}'`
}
