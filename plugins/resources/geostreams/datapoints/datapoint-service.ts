import {
  type Caller,
  Clock,
  CommitConflict,
  eq,
  event,
  Invalid,
  type Log,
  NotFound,
  type Permission,
  Policy,
  type Ref,
  Streams,
  type s,
  wire,
} from 'pounce/sdk'
import { type Datapoint, streamIdOf } from 'pounce/sdk/geo'
import { permissionDenied } from 'pounce/sdk/kit'
import { numberOf } from '../input.ts'
import { AddingRights } from './adding-rights.ts'
import { DatapointImport } from './datapoint-import.ts'
import { type DatapointJson, type Draft, toDatapointJson } from './datapoint-json.ts'
import { ReadingsStore } from './readings.ts'

type Shown = s.Static<typeof DatapointJson>

/** Adds, returns and deletes single datapoints. */
export class DatapointService {
  #readings: ReadingsStore
  #intake: DatapointImport
  #adding: AddingRights
  #streams: Streams
  #policy: Policy
  #clock: Clock

  constructor(readings: ReadingsStore, intake: DatapointImport, adding: AddingRights, streams: Streams, policy: Policy, clock: Clock) {
    this.#readings = readings
    this.#intake = intake
    this.#adding = adding
    this.#streams = streams
    this.#policy = policy
    this.#clock = clock
  }

  async create(caller: Caller, draft: Draft, log: Log): Promise<Shown> {
    await this.#adding.require(caller, draft.stream)
    const run = this.#intake.begin(caller, log)
    await run.add(1, draft, 0)
    const { lines } = (await run.finish()).toJSON()
    if (lines[0]) throw lines[0].field === 'stream_id' ? new NotFound('stream') : new Invalid(lines[0].message)
    const datapoint = run.lastId === undefined ? undefined : await this.#readings.one(run.lastId)
    if (!datapoint) throw new NotFound('stream')
    return toDatapointJson(datapoint.point, datapoint.owner)
  }

  /** By the number as sent; throws `NotFound` for one that the caller may not view. */
  async get(caller: Caller, sent: string): Promise<Shown> {
    const { point, owner } = await this.#found(sent)
    if ((await this.#decide(caller, 'ViewGeoStream', point)) !== 'yes') throw new NotFound('datapoint')
    return toDatapointJson(point, owner)
  }

  async remove(caller: Caller, sent: string): Promise<void> {
    const { point } = await this.#found(sent)
    const decision = await this.#decide(caller, 'DeleteGeoStream', point)
    if (decision === 'unseen') throw new NotFound('datapoint')
    if (decision === 'no') throw permissionDenied(caller, 'DeleteGeoStream', 'stream')
    const count = await this.#readings.geo.remove({ ids: [point.id] })
    if (count === 0) throw new NotFound('datapoint')
    await this.#report(caller, point, count)
  }

  async #found(sent: string) {
    const id = numberOf(sent)
    const found = id === undefined ? undefined : await this.#readings.one(id)
    if (!found) throw new NotFound('datapoint')
    return found
  }

  #decide(caller: Caller, permission: Permission, { stream }: Datapoint) {
    return this.#policy.canOn(caller, permission, refOf(stream))
  }

  async #report(caller: Caller, { stream }: Datapoint, count: number): Promise<void> {
    const { id, ...ref } = refOf(stream)
    const happened = event('stream.datapoints-removed', { id, ...ref }, { count }, caller.user?.id)
    try {
      const set = { changed: this.#clock.now().toISOString() }
      await this.#streams.change(id, { set, where: eq('state', 'live') }, [happened])
    } catch (error) {
      // The stream was deleted meanwhile, with its datapoints.
      if (!(error instanceof NotFound || error instanceof CommitConflict)) throw error
    }
  }
}
wire(DatapointService, ReadingsStore, DatapointImport, AddingRights, Streams, Policy, Clock)
const refOf = (stream: number): Ref => ({ kind: 'stream', id: streamIdOf(stream) })
