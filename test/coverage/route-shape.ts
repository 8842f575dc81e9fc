const parameter = /:\w+\*?|\{\w+\}/

/** A path with anonymous parameters, because their names differ: `/api/files/{}/blob`. A trailing slash is ignored. */
export const shapeOf = (path: string): string =>
  path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .map(segment => (parameter.test(segment) ? '{}' : segment))
    .join('/')

const patternOf = (path: string): RegExp => {
  const segments = path.split('/').map(segment => {
    if (segment.endsWith('*')) return '.+'
    if (segment.endsWith('_files')) return '[^/]+_files'
    return segment.startsWith(':') ? '[^/]+' : segment.replaceAll('.', '\\.')
  })
  return new RegExp(`^${segments.join('/')}$`)
}

/** A sort key, most specific first: fixed segments before parameters, parameters before wildcards. */
const vagueness = (path: string): string =>
  path
    .split('/')
    .map(segment => (segment.endsWith('*') ? '2' : segment.startsWith(':') ? '1' : '0'))
    .join('')

/** Finds the route of a request. */
export class RouteMatcher<T extends { readonly method: string; readonly path: string }> {
  readonly #byMethod = new Map<string, (readonly [RegExp, T])[]>()

  constructor(routes: readonly T[]) {
    for (const route of routes.toSorted((a, b) => (vagueness(a.path) < vagueness(b.path) ? -1 : 1))) {
      const known = this.#byMethod.get(route.method) ?? []
      known.push([patternOf(route.path), route])
      this.#byMethod.set(route.method, known)
    }
  }

  /** `path` without the query. */
  find(method: string, path: string): T | undefined {
    return this.#byMethod.get(method)?.find(([pattern]) => pattern.test(path))?.[1]
  }
}
