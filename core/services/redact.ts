import { hidden, isSecretName, redactText } from './redact-text.ts'

const maxDepth = 6

const redactError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: redactText(error.message),
  ...('code' in error ? { code: redact(error.code, depth + 1) } : {}),
  ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
  ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  ...(error instanceof AggregateError ? { errors: redact(error.errors, depth + 1) } : {}),
})

/** A copy of log fields in which secrets are hidden, by the names of the fields and inside addresses. */
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
