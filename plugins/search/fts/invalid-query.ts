/** A request that is wrong; `Invalid` to callers. Its own class because workers load nothing of the SDK. */
export class InvalidQuery extends Error {
  override readonly name = 'Refused'
}
