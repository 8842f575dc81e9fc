import { Clock, GeoStore, Installation, Policy, Sensors, Streams, wire } from 'pounce/sdk'
import type { Ports } from './entity-loader.ts'
import type { Question } from './question.ts'

/** Loaded by the first who asks: many installations have no geostreams, and all of them start. */
const answering = () => import('./answering.ts')

/** The service: reads paths and options, and answers from the geostreams. */
export class SensorThingsService {
  readonly #ports: Ports

  constructor(sensors: Sensors, streams: Streams, geo: GeoStore, policy: Policy, installation: Installation, clock: Clock) {
    this.#ports = {
      ...{ sensors, streams, geo, policy },
      now: () => clock.now().getTime(),
      // The address may be known only once the server listens.
      get baseUrl(): string {
        return installation.baseUrl
      },
    }
  }

  /** What there is: the sets and their addresses. */
  async root() {
    return (await answering()).rootOf(this.#ports.baseUrl)
  }

  /** `NotFound` for what is not there or not for the caller; `Invalid` for what cannot be asked. */
  async answer(question: Question): Promise<Readonly<Record<string, unknown>>> {
    return (await answering()).answerOf(this.#ports, question)
  }

  /** The bare value of a property: texts as they are, everything else as JSON. */
  async value(question: Pick<Question, 'caller' | 'path'>): Promise<string> {
    return (await answering()).bareValueOf(this.#ports, question)
  }
}
wire(SensorThingsService, Sensors, Streams, GeoStore, Policy, Installation, Clock)
