import { takesOperation } from 'pounce/sdk'

/** A queue bound to the exchange `clowder`. */
export interface Binding {
  readonly queue: string
  readonly key: string
}

/** The pattern of `process` from which pyclowder before 3 made the rest of a binding key: a `*` at its end became `#` (reference, extraction §1.5). */
const patternOf = (rest: string): string => {
  if (rest === '#') return '*'
  if (!rest.endsWith('.#')) return rest
  const before = rest.slice(0, -2)
  // `image.jpeg.#` takes what begins so: there is nothing behind the subtype.
  return before.includes('.') ? before : `${before}.*`
}

/** Whether a binding key takes a routing key. As in Clowder 1.x only keys that leave the exchange open do: `*.file.image.#`. */
const takesRoutingKey = (key: string, routingKey: string): boolean => {
  const [exchange, kind, ...rest] = key.split('.')
  const [, ownKind, ...operation] = routingKey.split('.')
  return exchange === '*' && kind === ownKind && takesOperation(patternOf(rest.join('.')), operation.join('.'))
}

/** Queues that a routing key goes to, each once, by name. */
export const boundQueues = (bindings: readonly Binding[], routingKey: string): readonly string[] =>
  [...new Set(bindings.filter(({ key }) => takesRoutingKey(key, routingKey)).map(({ queue }) => queue))].sort()

/** Third fragments of the keys, each once, by name. */
export const inputTypesOf = (bindings: readonly Binding[]): readonly string[] =>
  [...new Set(bindings.flatMap(({ key }) => key.split('.')[2] ?? []))].filter(type => type !== '' && type !== '#' && type !== '*').sort()
