import { maskedUri, type StatusPart, wire } from 'pounce/sdk'
import { S3Connection } from './connection.ts'
import { Config, type S3Config } from './s3-config.ts'

/** Where the bytes lie, for the status page. */
export class S3Status implements StatusPart {
  readonly name = 'storage'
  readonly facts = { location: 's3' }
  readonly details: Readonly<Record<string, string>>
  readonly #connection: S3Connection

  constructor({ endpoint, region, bucket = '' }: S3Config, connection: S3Connection) {
    this.#connection = connection
    this.details = { endpoint: maskedUri(endpoint ?? 'https://s3.amazonaws.com'), ...(region === undefined ? {} : { region }), bucket }
  }

  async check(): Promise<Readonly<Record<string, unknown>>> {
    await this.#connection.health()
    return { region: await this.#connection.wire.client.config.region() }
  }
}
wire(S3Status, Config, S3Connection)
