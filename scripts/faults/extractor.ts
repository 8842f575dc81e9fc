import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from 'amqplib'

/** The parts of a job message that extractors use. */
interface Message {
  readonly msgid: string
  readonly jobid: string
  readonly id: string
  readonly intermediateId: string
  readonly host: string
  readonly secretKey: string
  readonly routing_key: string
  readonly retry_count?: number
}

const maxRetries = 10
const retryMs = 200

/**
 * An extractor with the wire behaviour of pyclowder 3: its own durable queues, heartbeats, one job at a time, status messages to `reply_to`,
 * HTTP with `?key=`, ten immediate retries and then the error queue. It writes the SHA-256 of a file to its metadata.
 */
export class FaultExtractor {
  readonly name: string
  /** Number of deliveries by `jobid`, not counting those that the extractor requeued itself. */
  readonly deliveries = new Map<string, number>()
  retries = 0
  gaveUp = 0
  readonly #url: string
  #isOver = false
  #connection: ChannelModel | undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(name: string, url: string) {
    this.name = name
    this.#url = url
  }

  start(): void {
    this.#loop = this.#live()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#connection?.close().catch(() => undefined)
    await this.#loop
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#serve()
      } catch {
        // the broker is unavailable
        await pause(retryMs)
      }
    }
  }

  async #serve(): Promise<void> {
    const connection = await connect(this.#url)
    this.#connection = connection
    const closed = new Promise<void>(resolve => {
      connection.on('close', () => resolve())
    })
    connection.on('error', () => undefined)
    const channel = await connection.createChannel()
    channel.on('error', () => undefined)
    await channel.assertQueue(this.name, { durable: true })
    await channel.assertQueue(`error.${this.name}`, { durable: true })
    await channel.assertExchange('extractors', 'fanout', { durable: true })
    channel.publish(
      'extractors',
      '',
      Buffer.from(JSON.stringify({ id: this.name, queue: this.name, owner: '', extractor_info: this.#info() })),
    )
    await channel.prefetch(1)
    await channel.consume(this.name, message => message && void this.#take(channel, message))
    await closed
  }

  #info() {
    const text = { name: this.name, version: '1.0', description: 'Counts on faults', author: 'Pounce' }
    return { ...text, contexts: [], repository: [], process: { file: ['text/plain'] } }
  }

  async #take(channel: Channel, delivery: ConsumeMessage): Promise<void> {
    const message = JSON.parse(delivery.content.toString()) as Message
    const { jobid, retry_count: retried = 0 } = message
    if (retried === 0) this.deliveries.set(jobid, (this.deliveries.get(jobid) ?? 0) + 1)
    const sendStatus = (status: string): void => this.#sendStatus(channel, delivery, message, status)
    try {
      sendStatus('StatusMessage.start: Started processing.')
      await this.#work(message)
      sendStatus('StatusMessage.done: Done processing.')
    } catch (error) {
      this.#failed(channel, delivery, message, retried + 1, error)
    }
    settle(() => channel.ack(delivery))
  }

  #failed(channel: Channel, delivery: ConsumeMessage, message: Message, count: number, error: unknown): void {
    const properties = { deliveryMode: 2, replyTo: delivery.properties.replyTo as string }
    if (count > maxRetries) {
      this.gaveUp += 1
      this.#sendStatus(channel, delivery, message, `StatusMessage.error: Error processing message. ${String(error)}`)
      settle(() => channel.sendToQueue(`error.${this.name}`, delivery.content, properties))
      return
    }
    this.retries += 1
    this.#sendStatus(channel, delivery, message, `StatusMessage.retry: (#${count}) ${String(error)}`)
    settle(() => channel.sendToQueue(this.name, Buffer.from(JSON.stringify({ ...message, retry_count: count })), properties))
  }

  #sendStatus(channel: Channel, { properties }: ConsumeMessage, { id, jobid }: Message, status: string): void {
    const [kind = '', text = ''] = status.split(': ', 2)
    const start = new Date().toISOString().replace(/\.\d+Z$/, '-00:00')
    const body = { file_id: id, extractor_id: this.name, job_id: jobid, status, start, message_type: kind, message: text }
    const { replyTo, correlationId } = properties as { replyTo: string; correlationId?: string }
    settle(() =>
      channel.sendToQueue(replyTo, Buffer.from(JSON.stringify(body)), { deliveryMode: 2, ...(correlationId ? { correlationId } : {}) }),
    )
  }

  async #work({ id, intermediateId, host, secretKey }: Message): Promise<void> {
    const file = await fetch(`${host}/api/files/${intermediateId}?key=${secretKey}`, { signal: AbortSignal.timeout(30_000) })
    if (!file.ok) throw new Error(`HTTP ${file.status}`)
    const sha256 = createHash('sha256')
      .update(Buffer.from(await file.arrayBuffer()))
      .digest('hex')
    const document = {
      '@context': ['https://clowder.ncsa.illinois.edu/contexts/metadata.jsonld'],
      attachedTo: { resourceType: 'file', id },
      agent: { '@type': 'cat:extractor', extractor_id: `${host}/extractors/${this.name}/1.0`, version: '1.0', name: this.name },
      content: { sha256 },
    }
    const answer = await fetch(`${host}/api/files/${id}/metadata.jsonld?key=${secretKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(document),
      signal: AbortSignal.timeout(30_000),
    })
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    await answer.text()
  }
}

/** Ignores the error of a channel that was closed by a broker failure: unacknowledged messages are redelivered. */
const settle = (work: () => unknown): void => {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Error && error.name === 'IllegalOperationError')) throw error
  }
}
