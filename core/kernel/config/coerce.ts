import type { Node } from './schema-tree.ts'

const truths = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
])

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text)

/** Converts text to the type that a schema requires. Invalid text is returned unchanged, so that validation reports it. */
export const coerce = (text: string, node: Node): unknown => {
  if (node.type === 'number' || node.type === 'integer') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  if (node.type === 'boolean') return truths.get(text.trim().toLowerCase()) ?? text
  if (node.type === 'array') {
    if (looksLikeJson(text)) return parsed(text)
    const items = text.split(',').map(item => item.trim())
    return items.filter(item => item !== '').map(item => (node.items ? coerce(item, node.items) : item))
  }
  if (node.type === 'object') return parsed(text)
  if (node.anyOf) return coerceAny(text, node.anyOf)
  return text
}

const coerceAny = (text: string, alternatives: readonly Node[]): unknown => {
  if (looksLikeJson(text)) return parsed(text)
  for (const alternative of alternatives) {
    if ('const' in alternative) {
      if (String(alternative.const) === text) return alternative.const
      continue
    }
    if (alternative.type === 'string') return text
    const value = coerce(text, alternative)
    if (value !== text) return value
  }
  return text
}
