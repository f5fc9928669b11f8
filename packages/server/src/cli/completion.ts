// `posthorn completion`: generates shell completion from the commands themselves.
import { Argument, type Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

interface Path {
  /** `endpoints create`, or empty for the program. */
  readonly words: string;
  readonly completions: readonly string[];
  /** Options with a fixed set of values. */
  readonly choices: readonly { readonly option: string; readonly values: readonly string[] }[];
}

export function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("print the completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action((shell: keyof typeof SCRIPTS) => terminal.print(SCRIPTS[shell](pathsOf(program))));
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

function pathsOf(command: Command, words = ""): Path[] {
  const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
  const names = command.commands.map((child) => child.name());
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const choices = command.options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ option: long, values: argChoices }] : [],
  );
  return [
    { words, completions: [...names, ...values, ...options, "--help"], choices },
    ...command.commands.flatMap((child) => pathsOf(child, `${words} ${child.name()}`.trim())),
  ];
}

/**
 * The words before the cursor that are not options select the command; unknown words are arguments. After an option with
 * fixed values those are completed. Bash treats the sign in `--state=dead` as a separate word.
 */
function bashScript(paths: readonly Path[]): string {
  return `# In ~/.bashrc: source <(posthorn completion bash)
_posthorn() {
  local words="" candidate word before="\${COMP_WORDS[COMP_CWORD-1]}" current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$current" = "=" ]; then current=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    candidate="\${words:+$words }$word"
    case "$candidate" in
      ${paths.flatMap(({ words }) => (words === "" ? [] : [`"${words}"`])).join("|")}) words="$candidate" ;;
    esac
  done
  case "$words $before" in
${paths.flatMap(({ words, choices }) => choices.map(({ option, values }) => `    "${words} ${option}") COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$current")); return ;;`)).join("\n")}
  esac
  case "$words" in
${paths.map(({ words, completions }) => `    "${words}") COMPREPLY=($(compgen -W "${completions.join(" ")}" -- "$current")) ;;`).join("\n")}
  esac
}
complete -o default -F _posthorn posthorn`;
}

function zshScript(paths: readonly Path[]): string {
  return `#compdef posthorn
# In ~/.zshrc, after compinit: source <(posthorn completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashScript(paths).split("\n").slice(1).join("\n")}`;
}

function fishScript(paths: readonly Path[]): string {
  const lines = paths.flatMap(({ words, completions, choices }) => {
    const seen = words.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
    const condition = words === "" ? "__fish_use_subcommand" : seen.join("; and ");
    const complete = `complete -c posthorn -n '${condition}'`;
    return [
      `${complete} -a '${completions.join(" ")}'`,
      ...choices.map(({ option, values }) => `${complete} -l ${option.slice(2)} -x -a '${values.join(" ")}'`),
    ];
  });
  return ["# posthorn completion fish > ~/.config/fish/completions/posthorn.fish", ...lines].join("\n");
}
