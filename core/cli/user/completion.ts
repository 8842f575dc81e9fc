import type { Command as Commander } from 'commander'

/** A command with its possible completions. */
interface Place {
  /** The command's names, each after a space: ` user create`. */
  readonly path: string
  readonly commands: readonly (readonly [name: string, summary: string])[]
  readonly options: readonly (readonly [flag: string, summary: string])[]
}

const placesOf = (command: Commander, path: string, global: Place['options']): readonly Place[] => {
  const own = command.options.flatMap(({ long, description }) => (long ? [[long, description] as const] : []))
  const options = path === '' ? own : [...own, ...global, ['--help', 'display help for command'] as const]
  const commands = command.commands.map(one => [one.name(), one.description()] as const)
  const below = command.commands.flatMap(one => placesOf(one, `${path} ${one.name()}`, path === '' ? own : global))
  return [{ path, commands, options }, ...below]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const firsts = (pairs: readonly (readonly [string, string])[]): string => pairs.map(([name]) => name).join(' ')

const known = (places: readonly Place[]): string =>
  places
    .slice(1)
    .map(({ path }) => quoted(path))
    .join('|')

const bash = (places: readonly Place[]): string => `_pounce() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= word commands= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${known(places)}) path="$path $word" ;; esac
  done
  case "$path" in
${places.map(({ path, commands, options }) => `    ${quoted(path)}) commands=${quoted(firsts(commands))} options=${quoted(firsts(options))} ;;`).join('\n')}
  esac
  if [[ $current == -* ]]; then commands=$options; fi
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
}
complete -o default -F _pounce pounce
`

const described = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([name, summary]) => quoted(`${name}:${summary.replaceAll(':', '\\:')}`)).join(' ')

const zsh = (places: readonly Place[]): string => `#compdef pounce
_pounce() {
  local where='' word
  local -a commands options
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$where $word" in (${known(places)}) where="$where $word" ;; esac
  done
  case "$where" in
${places.map(({ path, commands, options }) => `    (${quoted(path)}) commands=(${described(commands)}); options=(${described(options)}) ;;`).join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
compdef _pounce pounce
`

const fish = (places: readonly Place[]): string => `function __pounce_at
  set -l where ''
  for word in (commandline -opc)[2..]
    switch "$where $word"
      case ${places
        .slice(1)
        .map(({ path }) => quoted(path))
        .join(' ')}
        set where "$where $word"
    end
  end
  test "$where" = "$argv[1]"
end
${places
  .flatMap(({ path, commands, options }) => {
    const at = `complete -c pounce -n ${quoted(`__pounce_at ${quoted(path)}`)}`
    return [
      ...commands.map(([name, summary]) => `${at} -f -a ${quoted(name)} -d ${quoted(summary)}`),
      ...options.map(([flag, summary]) => `${at} -l ${flag.slice(2)} -d ${quoted(summary)}`),
    ]
  })
  .join('\n')}
`

/** A completion script for the program in a shell. */
export const completionScript = (program: Commander, shell: 'bash' | 'zsh' | 'fish'): string =>
  ({ bash, zsh, fish })[shell](placesOf(program, '', []))
