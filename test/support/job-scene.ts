import { Keys } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from './calls.ts'
import { extractorInfo } from './extractor-info.ts'
import { FakeBus } from './fake-bus.ts'
import { newDataset, ok, upload } from './scene.ts'
import { newSpace, type Somebody, somebody } from './spaces-and-people.ts'

/** The extractor of the jobs. */
export const extractor = 'job.extractor'

/** A server with a test clock and a transport on which the test acts as all extractors. */
export class JobScene {
  readonly server: TestServer
  readonly clock: FixedClock
  readonly bus: FakeBus

  private constructor(server: TestServer, clock: FixedClock, bus: FakeBus) {
    this.server = server
    this.clock = clock
    this.bus = bus
  }

  static async open(config: object = {}, folder?: string): Promise<JobScene> {
    const [clock, bus] = [new FixedClock(), new FakeBus()]
    const server = await bootForTest({
      also: [bus.plugin],
      clock,
      config: { access: { private: true }, ...config },
      ...(folder === undefined ? {} : { folder }),
    })
    await bus.introduce(extractorInfo(extractor))
    return new JobScene(server, clock, bus)
  }

  /** A user with a dataset of two files in a space, and another dataset in another space. */
  async person(name = 'ann') {
    const person = await somebody(this.server, name)
    const { call } = person
    const [space, elsewhere] = [await newSpace(person), await newSpace(person, 'elsewhere')]
    const dataset = await newDataset(call, { space: [space], name: 'the dataset' })
    const other = await newDataset(call, { space: [elsewhere] })
    const file = await upload(call, dataset, 'one two', 'target.txt')
    const sibling = await upload(call, dataset, 'three', 'sibling.txt')
    const stranger = await upload(call, other, 'four', 'stranger.txt')
    return { person, space, elsewhere, dataset, other, file, sibling, stranger }
  }

  /** Submits an extraction; resolves to its job. */
  async submit({ call }: Pick<Somebody, 'call'>, kind: 'files' | 'datasets', id: string): Promise<Job> {
    const json = { extractor, parameters: {} }
    const { job_id } = await ok<{ job_id: string }>(call(`/api/${kind}/${id}/extractions`, { method: 'POST', json }))
    return this.jobOf(job_id)
  }

  jobOf(id: string): Job {
    const job = this.bus.jobs.find(each => each.id === id)
    if (!job) throw new Error(`There is no job ${id}`)
    return job
  }

  /** The key that a transport adds to the message of a job. */
  async keyOf(job: Job): Promise<string> {
    const key = await this.server.get(Keys).jobKey(job)
    if (key === undefined) throw new Error('The job has no owner')
    return key
  }

  /** Calls with the key of a job. */
  by(key: string) {
    const call = this.server.as(key)
    return { call, ...callsOf(call) }
  }
}
