const shades: ReadonlyMap<unknown, string> = new Map([
  ['debug', '\x1b[2m'],
  ['warn', '\x1b[33m'],
  ['error', '\x1b[31m'],
])

/** Makes control characters visible, so that untrusted text cannot control the terminal. */
export const visible = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const textOf = (value: unknown): string => visible(typeof value === 'string' ? value : JSON.stringify(value))

const field = ([name, value]: [string, unknown]): string => `${visible(name)}=${textOf(value)}`

const stackOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null || !('stack' in error) || typeof error.stack !== 'string') return ''
  const lines = error.stack.split('\n').slice(1)
  return lines.map(line => `\n    ${visible(line.trim())}`).join('')
}

/** One human-readable log line: time, plugin, message, fields; followed by the stack of an error. */
export const prettyLine = (line: string): string => {
  const { level, time, message, plugin, error, ...fields } = JSON.parse(line) as Record<string, unknown>
  const reason = typeof error === 'object' && error !== null && 'message' in error ? ` · ${textOf(error.message)}` : ''
  const details = Object.entries(fields).map(field).join(' ')
  const clock = textOf(typeof time === 'string' ? time.slice(11, 23) : time)
  const who = plugin === undefined ? '' : ` ${textOf(plugin)}:`
  const text = `${clock}${who} ${textOf(message)}${reason}${details === '' ? '' : ` ${details}`}`
  return `${shades.get(level) ?? ''}${text}${stackOf(error)}\x1b[0m\n`
}
