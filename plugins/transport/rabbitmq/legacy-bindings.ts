/** A queue bound to the exchange `clowder`. */
export interface Binding {
  readonly queue: string
  readonly key: string
}

/** Binding keys that take a routing key, compared as plain text (reference, extraction §1.4, "legacy"). */
function keysThatTake(routingKey: string): ReadonlySet<string> {
  const [, ...rest] = routingKey.split('.')
  const key = ['*', ...rest]
  return new Set([key.join('.'), [...key.slice(0, -1), '#'].join('.'), `*.${rest[0] ?? ''}.#`, `${key.join('.')}.#`])
}

/** Queues that a routing key goes to, each once, by name. */
export const boundQueues = (bindings: readonly Binding[], routingKey: string): readonly string[] => {
  const keys = keysThatTake(routingKey)
  return [...new Set(bindings.filter(({ key }) => keys.has(key)).map(({ queue }) => queue))].sort()
}

/** Third fragments of the keys, each once, by name. */
export const inputTypesOf = (bindings: readonly Binding[]): readonly string[] =>
  [...new Set(bindings.flatMap(({ key }) => key.split('.')[2] ?? []))].filter(type => type !== '' && type !== '#' && type !== '*').sort()
