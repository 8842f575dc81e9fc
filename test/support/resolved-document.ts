type Members = Readonly<Record<string, unknown>>

/** An OpenAPI document with its references resolved, for tests that read single operations. */
export const resolved = <T extends object>(document: T): T => {
  const targets = new Map<string, unknown>()
  const target = (reference: string): unknown => {
    if (!targets.has(reference)) {
      // Recursive references are kept.
      targets.set(reference, { $ref: reference })
      const names = reference.slice('#/'.length).split('/')
      const found = names.reduce<unknown>((at, name) => (at as Members | undefined)?.[name], document)
      targets.set(reference, whole(found))
    }
    return targets.get(reference)
  }
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole)
    if (typeof value !== 'object' || value === null) return value
    const reference = (value as Members)['$ref']
    if (typeof reference === 'string') return target(reference)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, whole(each)]))
  }
  return whole(document) as T
}
