import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { TreeNode } from '../lib/tree-view.tsx'

/** Longer lists are shown in groups of this size. */
const groupSize = 1000
const maxValue = 500

/** A number that JavaScript cannot represent exactly, kept as its source text. */
class LongNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

const maxRevivedLength = 2_000_000
/** Infinite, or 0 for a text with other digits. */
const isOutOfRange = (value: number, source: string): boolean => !Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/.test(source))
const keepLongNumbers = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return source.length > 15 || isOutOfRange(value, source) ? new LongNumber(source) : value
}

/** Parses JSON. Throws a SyntaxError. */
export const parsedJson = (text: string): unknown =>
  text.length <= maxRevivedLength && /\d{16}|[eE][+-]?\d{3}/.test(text) ? JSON.parse(text, keepLongNumbers as never) : JSON.parse(text)

/** A line in JSON Lines that is not valid JSON. */
export class JsonLineError extends Error {
  /** 1-based. */
  readonly line: number

  constructor(line: number, cause: unknown) {
    super('not JSON', { cause })
    this.line = line
  }
}

/** Parses JSON Lines. Throws a JsonLineError. */
export const parsedLines = (text: string): readonly unknown[] =>
  text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [parsedJson(line)]
    } catch (error) {
      throw new JsonLineError(at + 1, error)
    }
  })

const cut = (text: string): string => (text.length > maxValue ? `${text.slice(0, maxValue)}…` : text)

/** A value and its contents as a tree. `path` is the path to it in code, such as `plots[1].name`. */
export const nodeOf = (label: string, value: unknown, path: string): TreeNode => {
  if (Array.isArray(value)) {
    const note = t('viewer.text.items', { count: value.length, shown: number(value.length) })
    return {
      ...{ id: path, label, value: note, kind: 'note', childCount: value.length },
      children: () => itemNodes(value, path, 0, value.length),
    }
  }
  if (value instanceof LongNumber) return { id: path, label, value: value.source, kind: 'number', childCount: 0 }
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    return {
      ...{
        id: path,
        label,
        value: t('viewer.text.members', { count: keys.length, shown: number(keys.length) }),
        kind: 'note',
        childCount: keys.length,
      },
      children: () => keys.map(key => nodeOf(key, (value as Readonly<Record<string, unknown>>)[key], path + step(key))),
    }
  }
  if (typeof value === 'string') return { id: path, label, value: cut(JSON.stringify(value)), kind: 'text', childCount: 0 }
  return { id: path, label, value: String(value), kind: typeof value === 'number' ? 'number' : 'word', childCount: 0 }
}

const step = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)

const itemNodes = (list: readonly unknown[], path: string, start: number, end: number): readonly TreeNode[] => {
  if (end - start <= groupSize) return list.slice(start, end).map((item, at) => nodeOf(String(start + at), item, `${path}[${start + at}]`))
  const size = groupSize ** Math.ceil(Math.log(end - start) / Math.log(groupSize) - 1)
  return Array.from({ length: Math.ceil((end - start) / size) }, (_, group): TreeNode => {
    const first = start + group * size
    const last = Math.min(end, first + size)
    const name = `${first} … ${last - 1}`
    return { id: `${path}[${name}]`, label: name, childCount: last - first, children: () => itemNodes(list, path, first, last) }
  })
}
