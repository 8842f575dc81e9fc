import type { Router as KoaRouter } from '@koa/router'
import { Router } from './lean-modules.ts'
import type { Address, Method, Mount } from './mount.ts'

/** A route and the values of its path's parameters, decoded. */
export interface Match {
  readonly mount: Mount
  readonly params: Readonly<Record<string, string>>
}

type Layer = ReturnType<KoaRouter['match']>['path'][number]

interface Entry {
  readonly address: Address
  readonly mount: Mount
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Finds the route of a request without looking at the others: a Map from method, number of segments and the first two literal
 * segments leads to a router of the few routes that share them. Fixed segments win over parameters, and those over a tail.
 */
export class RouteTable {
  #routers = new Map<string, KoaRouter>()
  #mounts = new Map<Layer, Mount>()

  constructor(mounts: readonly Mount[]) {
    const buckets = new Map<string, Entry[]>()
    for (const mount of mounts) {
      for (const address of mount.addresses) {
        const key = keyOf(address)
        const bucket = buckets.get(key)
        if (bucket) bucket.push({ address, mount })
        else buckets.set(key, [{ address, mount }])
      }
    }
    for (const [key, entries] of buckets) this.#routers.set(key, this.#routerOf(entries))
  }

  /** The route that answers, or undefined. */
  find(method: string, path: string): Match | undefined {
    const segments = path.split('/')
    const count = segments.length - 1
    const first = segments[1] ?? ''
    const second = count > 1 ? (segments[2] ?? '') : ''
    return (
      this.#in(`${method} ${count} ${first}/${second}`, path) ??
      this.#in(`${method} ${count} ${first}/`, path) ??
      this.#in(`${method} ${count} /`, path) ??
      this.#in(`${method} * ${first}/${second}`, path) ??
      this.#in(`${method} * ${first}/`, path) ??
      this.#in(`${method} * /`, path)
    )
  }

  /** The methods under which a path is known. */
  methodsOf(path: string): readonly Method[] {
    return methods.filter(method => this.find(method, path))
  }

  /** The headers that the routes at a path send with every answer. */
  headersOf(path: string): Readonly<Record<string, string>> {
    return Object.assign({}, ...methods.map(method => this.find(method, path)?.mount.declaration.headers))
  }

  #in(key: string, path: string): Match | undefined {
    const layer = this.#routers.get(key)?.match(path, key.slice(0, key.indexOf(' '))).pathAndMethod[0]
    const mount = layer && this.#mounts.get(layer)
    return layer && mount ? { mount, params: layer.params(path, layer.captures(path), {}) } : undefined
  }

  #routerOf(entries: readonly Entry[]): KoaRouter {
    const router = new Router({ strict: true, sensitive: true })
    const sorted = entries.toSorted((one, other) => (rank(one.address.path) < rank(other.address.path) ? -1 : 1))
    for (const { address, mount } of sorted) {
      const pattern = address.path.replace(/:(\w+)\*$/, '*$1')
      const layer = router.register(pattern, [address.method], (_context, next) => next())
      if (!(layer instanceof Router)) this.#mounts.set(layer, mount)
    }
    return router
  }
}

/** Sorts fixed segments before parameters and those before tails, from the left. */
const rank = (path: string): string =>
  path
    .split('/')
    .map(segment => (segment.endsWith('*') ? '3' : segment.includes(':') ? '2' : '1'))
    .join('')

const keyOf = ({ method, path }: Address): string => {
  const segments = path.split('/')
  const literal = (at: number): string => {
    const segment = segments[at] ?? ''
    return segment.includes(':') ? '' : segment
  }
  const first = literal(1)
  const count = path.endsWith('*') ? '*' : segments.length - 1
  return `${method} ${count} ${first}/${first ? literal(2) : ''}`
}
