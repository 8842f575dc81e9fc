/** Maximum length of a sequence generated in a chart. */
const maxSequence = 1_000_000

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Each object in a specification, except inside `values`, which are user data. */
const objectsIn = function* (value: unknown): Generator<Json> {
  if (Array.isArray(value)) for (const each of value) yield* objectsIn(each)
  if (!isObject(value)) return
  yield value
  for (const [name, each] of Object.entries(value)) if (name !== 'values') yield* objectsIn(each)
}

/** The grammar of a chart, by its declared schema or by properties that only one grammar has. */
export const grammarOf = (specification: unknown): 'vega' | 'vega-lite' | undefined => {
  if (!isObject(specification)) return undefined
  const schema = String(specification['$schema'] ?? '')
  if (/\/vega-lite\//.test(schema)) return 'vega-lite'
  if (/\/vega\//.test(schema)) return 'vega'
  if (Array.isArray(specification['marks'])) return 'vega'
  const views = ['mark', 'layer', 'hconcat', 'vconcat', 'concat', 'facet', 'repeat', 'spec']
  return views.some(name => name in specification) ? 'vega-lite' : undefined
}

/** The first external URL of data or pictures. */
export const outsideLink = (specification: unknown): string | undefined => {
  for (const one of objectsIn(specification)) {
    const data = one['data']
    const sources = [one, ...(Array.isArray(data) ? data : [data])]
    for (const source of sources) {
      const url = isObject(source) ? source['url'] : undefined
      if (typeof url === 'string' && !url.startsWith('data:')) return url
    }
  }
  return undefined
}

const isLong = (sequence: unknown): boolean => {
  if (!isObject(sequence)) return false
  const [start, stop, step] = [sequence['start'] ?? 0, sequence['stop'] ?? 0, sequence['step'] ?? 1].map(Number)
  const length = Math.abs(((stop ?? 0) - (start ?? 0)) / (step || Number.MIN_VALUE))
  return !(length <= maxSequence)
}

/** Whether a chart generates too many values for a browser. */
export const makesTooMuch = (specification: unknown): boolean => {
  for (const one of objectsIn(specification)) if ((one['type'] === 'sequence' && isLong(one)) || isLong(one['sequence'])) return true
  return false
}
