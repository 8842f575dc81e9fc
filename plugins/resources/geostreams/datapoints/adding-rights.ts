import {
  type Caller,
  configPort,
  Forbidden,
  lacking,
  NotFound,
  Policy,
  type Problem,
  type StreamRecord,
  Streams,
  streamIdOf,
  wire,
} from 'pounce/sdk'
import { config, type Settings } from '../config.ts'

/** A stream that somebody may add to, or why not. */
export type MayAdd = { readonly stream: StreamRecord } | { readonly problem: Problem }

/** Who may add readings to which streams. */
export class AddingRights {
  #settings: Settings
  #policy: Policy
  #streams: Streams

  constructor(settings: Settings, policy: Policy, streams: Streams) {
    this.#settings = settings
    this.#policy = policy
    this.#streams = streams
  }

  /** Of at most 1,000 streams, by number. What the caller may not see is like what is not there. */
  async of(caller: Caller, numbers: readonly number[]): Promise<ReadonlyMap<number, MayAdd>> {
    const ids = numbers.map(streamIdOf)
    const [records, addable] = await Promise.all([this.#streams.getMany(ids), this.#policy.allowed(caller, 'AddGeoStream', 'stream', ids)])
    const rest = ids.filter(id => !addable.has(id))
    const visible = await this.#policy.allowed(caller, 'ViewGeoStream', 'stream', rest)
    const isForAnybody = this.#isForAnybody(caller)
    const one = (number: number): MayAdd => {
      const id = streamIdOf(number)
      const stream = records.get(id)
      if (stream?.state !== 'live' || !(addable.has(id) || visible.has(id))) return { problem: new NotFound('stream') }
      return addable.has(id) || isForAnybody ? { stream } : { problem: lacking(caller, 'AddGeoStream', 'stream') }
    }
    return new Map(numbers.map(number => [number, one(number)]))
  }

  /** The stream; throws the refusal. */
  async require(caller: Caller, number: number): Promise<StreamRecord> {
    const may = (await this.of(caller, [number])).get(number)
    if (!may) throw new Forbidden('Permission denied on the stream')
    if ('problem' in may) throw may.problem
    return may.stream
  }

  /** A key that is held to spaces reaches nothing by being anybody's. */
  #isForAnybody(caller: Caller): boolean {
    return this.#settings.anybodyMayAdd && !caller.limits?.spaces && this.#policy.can(caller, 'AddGeoStream') === 'yes'
  }
}
wire(AddingRights, configPort(config), Policy, Streams)
