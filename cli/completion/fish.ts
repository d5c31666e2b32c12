import type { CompletionCommand } from './tree.ts'

/** Returns the script for fish. The script does not start processes or evaluate typed text. */
export function fishScript(tree: readonly CompletionCommand[]): string {
  const paths = tree.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  const valued = new Set(tree.flatMap(({ options }) => options.flatMap(({ name, value }) => (value ? [name] : []))))
  return `# Completion of portage for fish: portage completion fish | source
set -g __portage_paths ${paths.join(' ')}
set -g __portage_valued ${[...valued].join(' ')}
function __portage_at --description 'Is this the command that is being typed?'
    set -l path ''
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
        else if contains -- $word $__portage_valued
            set skip 1
        else if contains -- (string trim -- "$path $word") $__portage_paths
            set path (string trim -- "$path $word")
        end
    end
    test "$path" = "$argv[1]"
end
complete -c portage -f
${tree.flatMap(linesOf).join('\n')}`
}

function linesOf({ path, commands, options, choices, takesFile }: CompletionCommand): string[] {
  const at = `complete -c portage -n ${quoted(`__portage_at "${path}"`)}`
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...(choices.length > 0 ? [`${at} -a ${quoted(choices.join(' '))}`] : []),
    ...(takesFile ? [`${at} -F`] : []),
    ...options.map(({ name, description, value }) => {
      const takes = !value ? '' : value.isFile ? ' -r -F' : ` -x${value.choices.length > 0 ? ` -a ${quoted(value.choices.join(' '))}` : ''}`
      return `${at} -l ${name.replace(/^--/, '')}${takes} -d ${quoted(description)}`
    }),
  ]
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
