import { type CompletionCommand, lookUps } from './tree.ts'

/**
 * Returns the script for zsh, which users source, or save as `_portage` in `$fpath`. The script does not start
 * processes or evaluate typed text.
 */
export function zshScript(tree: readonly CompletionCommand[]): string {
  const words = (described: CompletionCommand['commands']) => listed(described.map(({ name, description }) => `${name}:${description}`))
  return `#compdef portage
# Completion of portage for zsh: source <(portage completion zsh)
(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }
${lookUps(tree, { one: quoted, list: listed, words })}
_portage() {
  local at= skip= option= word file=
  local -i i ret=1
  local -a commands options valued choices names
  _portage_command ''
  for (( i = 2; i < CURRENT; i++ )); do
    word=$words[i]
    names=(\${commands%%:*})
    if [[ -n $skip ]]; then
      skip= option=
    elif (( $valued[(Ie)$word] )); then
      skip=1 option=$word
    elif (( $names[(Ie)$word] )); then
      at="\${at:+$at }$word"
      _portage_command "$at"
    fi
  done
  if [[ -z $skip && $PREFIX == --*=* ]]; then
    skip=1 option=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $skip ]]; then
    commands=()
    _portage_value "$at" "$option"
  elif [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  (( $#commands )) && _describe command commands && ret=0
  (( $#choices )) && compadd -a choices && ret=0
  [[ -n $file ]] && _files && ret=0
  return ret
}
if [[ $funcstack[1] == _portage ]]; then _portage "$@"; else compdef _portage portage; fi`
}

function listed(texts: readonly string[]): string {
  return `(${texts.map(quoted).join(' ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
