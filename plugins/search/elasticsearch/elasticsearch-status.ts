import { maskedUri, type StatusPart, wire } from 'pounce/sdk'
import { ElasticsearchConnection } from './elasticsearch-connection.ts'
import { Config, type Settings } from './settings.ts'

const limitMs = 1500

/** Which server searches, for the status page. */
export class ElasticsearchStatus implements StatusPart {
  readonly name = 'elasticsearch'
  readonly details: Readonly<Record<string, string>>
  readonly #server: ElasticsearchConnection

  constructor({ nodes, index }: Settings, server: ElasticsearchConnection) {
    this.#server = server
    this.details = { server: nodes.map(maskedUri).join(', '), index }
  }

  async check(): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.#server.call<{ readonly cluster_name: string; readonly status: string }>({
      method: 'GET',
      path: '/_cluster/health',
      limitMs,
      isRepeatable: true,
    })
    return { clustername: body.cluster_name, health: body.status }
  }
}
wire(ElasticsearchStatus, Config, ElasticsearchConnection)
