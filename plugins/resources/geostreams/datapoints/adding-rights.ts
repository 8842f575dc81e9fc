import { type Caller, configPort, Forbidden, NotFound, Policy, type Problem, Streams, wire } from 'pounce/sdk'
import { type StreamRecord, streamIdOf } from 'pounce/sdk/geo'
import { permissionDenied } from 'pounce/sdk/kit'
import { config, type Settings } from '../config.ts'

/** A stream to which the caller may add, or the reason why not. */
export type MayAdd = { readonly stream: StreamRecord } | { readonly problem: Problem }

/** Checks to which streams a caller may add datapoints. */
export class AddingRights {
  #settings: Settings
  #policy: Policy
  #streams: Streams

  constructor(settings: Settings, policy: Policy, streams: Streams) {
    this.#settings = settings
    this.#policy = policy
    this.#streams = streams
  }

  /** Checks up to 1,000 streams, by number. A stream that the caller may not view is treated as missing. */
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
      return addable.has(id) || isForAnybody ? { stream } : { problem: permissionDenied(caller, 'AddGeoStream', 'stream') }
    }
    return new Map(numbers.map(number => [number, one(number)]))
  }

  /** Returns the stream, or throws the refusal. */
  async require(caller: Caller, number: number): Promise<StreamRecord> {
    const may = (await this.of(caller, [number])).get(number)
    if (!may) throw new Forbidden('Permission denied on the stream')
    if ('problem' in may) throw may.problem
    return may.stream
  }

  /** A key limited to spaces gets no access through `anybodyMayAdd`. */
  #isForAnybody(caller: Caller): boolean {
    return this.#settings.anybodyMayAdd && !caller.limits?.spaces && this.#policy.can(caller, 'AddGeoStream') === 'yes'
  }
}
wire(AddingRights, configPort(config), Policy, Streams)
