import { Argument } from 'commander'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { completionTree } from '../completion/tree.ts'
import { zshScript } from '../completion/zsh.ts'
import type { Call, CommandSpec } from '../command.ts'
import { verbatim } from '../output/output.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

export const completionCommand: CommandSpec = {
  description: 'Print the script with which a shell completes commands, options and their values.',
  options: (command) => command.addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts))),
  notes: 'The script contains all completions and does not start a process. Print the script again after an upgrade of Portage.',
  examples: [
    'source <(portage completion bash)         # in ~/.bashrc',
    'source <(portage completion zsh)          # in ~/.zshrc',
    'portage completion fish > ~/.config/fish/completions/portage.fish',
  ],
  run: async ({ program }: Call, shell: keyof typeof scripts) => {
    const script = scripts[shell](completionTree(program()))
    return { json: { shell, script }, text: verbatim(script) }
  },
}
