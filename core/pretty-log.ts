const shades: Readonly<Record<string, string>> = { debug: '\x1b[2m', info: '', warn: '\x1b[33m', error: '\x1b[31m' }

/** Makes control characters visible, so that text from outside cannot steer the terminal. */
export const visible = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const field = ([name, value]: [string, unknown]): string => `${name}=${visible(typeof value === 'string' ? value : JSON.stringify(value))}`

const stackOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return ''
  const lines = String(error.stack).split('\n').slice(1)
  return lines.map(line => `\n    ${visible(line.trim())}`).join('')
}

/** One line of the log for people: time, plugin, message, fields; an error's stack below it. */
export const prettyLine = (line: string): string => {
  const { level, time, message, plugin, error, ...fields } = JSON.parse(line) as Record<string, unknown>
  const reason = typeof error === 'object' && error !== null && 'message' in error ? ` · ${visible(String(error.message))}` : ''
  const details = Object.entries(fields).map(field).join(' ')
  const clock = String(time).slice(11, 23)
  const who = plugin === undefined ? '' : ` ${visible(String(plugin))}:`
  const text = `${clock}${who} ${visible(String(message))}${reason}${details === '' ? '' : ` ${details}`}`
  return `${shades[String(level)] ?? ''}${text}${stackOf(error)}\x1b[0m\n`
}
