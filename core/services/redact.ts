/** Replaces a secret. */
export const hidden = '[hidden]'

const secretNames: ReadonlySet<string> = new Set(['key', 'apikey', 'xapikey', 'pass', 'pwd'])
const secretEnding =
  /(password|passwd|passwordhash|passphrase|secret|token|signature|(secret|private|access|extraction|api|encryption|signing)key|authorization|cookie)$/

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '')
const isSecret = (letters: string): boolean => secretNames.has(letters) || secretEnding.test(letters)

/** True if this is the name of a secret, in any notation: `X-API-Key`, `_extraction_key`, `passwordHash`. */
const isSecretName = (name: string): boolean => isSecret(lettersOf(name))

/**
 * A name and its assignment operator, up to the value: `key=`, `"secretKey":"`, `\"token\":\"`, `Cookie: `, `key%3D`.
 * Matches only begin at the start of a word and the number of spaces is limited, so that matching takes linear time.
 */
const assignment = /(?<![\w-])([\w-]+)(\\*["']?)\s{0,8}([=:]{1,3}>?|%3[ad])\s{0,8}(\\*["'])?/gi
const plainValue = /[^&;\s"'<>]*/y
const restOfLine = /[^\r\n"]*/y

const endOf = (pattern: RegExp, text: string, start: number): number => {
  pattern.lastIndex = start
  return start + (pattern.exec(text)?.[0].length ?? 0)
}

/** The end of a quoted value. In nested quoting, quotes inside the value have more backslashes than the closing one. */
const endOfQuoted = (text: string, start: number, opening: string): number => {
  const quote = opening.at(-1)
  const backslashes = opening.length - 1
  let run = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === quote && (run < backslashes || run % (2 * opening.length) === backslashes)) return at - Math.min(run, backslashes)
    run = character === '\\' ? run + 1 : 0
  }
  return text.length
}

/** Possible names without the characters of a preceding escape: `\nkey`, `%3Fkey`. */
const namesOf = (name: string, before: string | undefined): readonly string[] =>
  before === '\\' ? [name, name.slice(1)] : before === '%' ? [name, name.slice(2)] : [name]

/** The end of the secret after an assignment; its start if it is not a secret. */
const endOfSecret = (text: string, match: RegExpExecArray, start: number): number => {
  const [, name = '', closing = '', sign = '', opening] = match
  const letters = namesOf(name, text[match.index - 1])
    .map(lettersOf)
    .find(isSecret)
  if (letters === undefined) return start
  if (opening !== undefined) return endOfQuoted(text, start, opening)
  if (sign !== ':' || closing !== '') return endOf(plainValue, text, start)
  // Prose such as `unknown key: http.prot` is not a secret.
  if (letters === 'key' || letters === 'pass') return start
  return endOf(/(authorization|cookie)$/.test(letters) ? restOfLine : plainValue, text, start)
}

const redactAssigned = (text: string): string => {
  let [copy, done] = ['', 0]
  assignment.lastIndex = 0
  for (let match = assignment.exec(text); match; match = assignment.exec(text)) {
    const start = assignment.lastIndex
    const end = endOfSecret(text, match, start)
    if (end === start) continue
    copy += text.slice(done, start) + hidden
    done = end
    assignment.lastIndex = end
  }
  return copy + text.slice(done)
}

/** Does not redact prose: `basic` before a word. */
const redactScheme = (all: string, scheme: string, space: string, value: string): string =>
  scheme === 'basic' && /^[a-z]+$/.test(value) ? all : `${scheme}${space}${hidden}`

/**
 * Redacts secrets in text: credentials in URLs and after `Bearer` and `Basic`, and values assigned to names of secrets,
 * as in URLs, headers and JSON. Prefers false positives to false negatives. Takes linear time.
 */
export const redactText = (text: string): string =>
  redactAssigned(
    text
      .replace(/(:\/\/)[^\s/?#"<>]*@/g, `$1${hidden}@`)
      .replace(/(?<![\w.-])(bearer|basic)(\s+|%20)([\w.~+/=:-]+)/gi, redactScheme)
      .replace(/([?&;]code=)[^&;\s"'<>]*/gi, `$1${hidden}`),
  )

const maxDepth = 6

const redactError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: redactText(error.message),
  ...('code' in error ? { code: redact(error.code, depth + 1) } : {}),
  ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
  ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  ...(error instanceof AggregateError ? { errors: redact(error.errors, depth + 1) } : {}),
})

/** A copy of log fields with secrets redacted, by field name and inside URLs. */
export const redact = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) return '…'
  if (value instanceof Error) return redactError(value, depth)
  if (value instanceof Date) return value
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  if (value instanceof URL) return redactText(value.href)
  if (value instanceof Map) return redact(Object.fromEntries(value), depth)
  if (value instanceof Set) return redact([...value], depth)
  if (Array.isArray(value)) return value.map(item => redact(item, depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) copy[name] = isSecretName(name) ? hidden : redact(item, depth + 1)
  return copy
}
