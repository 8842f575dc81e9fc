import { type ListAnswer, s } from 'pounce/sdk'

/** A list of which clients of Clowder 1.x expect `{"status":"No data found"}` when it is empty. */
export const listOrNoData = <T extends s.TSchema>(item: T) =>
  s.Unsafe<readonly s.Static<T>[] | AsyncIterable<s.Static<T>> | NoData>({
    anyOf: [s.list(item), s.Object({ status: s.Literal('No data found') })],
    [s.bodyKind]: 'rows',
  })

interface NoData {
  readonly status: 'No data found'
}
const noData: NoData = { status: 'No data found' }

const isStream = <V>(body: readonly V[] | AsyncIterable<V>): body is AsyncIterable<V> => Symbol.asyncIterator in body

async function* goingOn<V>(first: V, rest: AsyncIterator<V>): AsyncGenerator<V> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** The answer of a list, unless it has nothing: then that is said. */
export const orNoData = async <V>(
  answer: ListAnswer<V>,
): Promise<{ readonly status: 200; readonly body: ListAnswer<V>['body'] | NoData }> => {
  const { body } = answer
  if (!isStream(body)) return body.length === 0 && !answer.headers ? { status: 200, body: noData } : answer
  const rows = body[Symbol.asyncIterator]()
  const first = await rows.next()
  return { status: 200, body: first.done ? noData : goingOn(first.value, rows) }
}
