import type { Metrics } from 'pounce/sdk'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'

type Labels = Readonly<Record<string, string>>

/** Measurements that can be read. */
export interface KernelMetrics extends Metrics {
  /** The text for `/metrics`; absent where nothing is measured. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
}

const nothing = (): void => undefined

/** Measures nothing. */
export const noMetrics: KernelMetrics = { count: nothing, gauge: nothing, observe: nothing }

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]

interface Made<M> {
  readonly metric: M
  readonly labels: readonly string[]
}

class PrometheusMetrics implements KernelMetrics {
  readonly #client: typeof import('prom-client')
  readonly #registry: Registry
  readonly #made = new Map<string, Made<Counter | Gauge | Histogram>>()

  constructor(client: typeof import('prom-client')) {
    this.#client = client
    this.#registry = new client.Registry()
    client.collectDefaultMetrics({ register: this.#registry })
  }

  count(name: string, labels: Labels = {}, by = 1): void {
    const { metric, fitting } = this.#get(name, labels, this.#client.Counter)
    metric.inc(fitting, by)
  }

  gauge(name: string, value: number, labels: Labels = {}): void {
    const { metric, fitting } = this.#get(name, labels, this.#client.Gauge)
    metric.set(fitting, value)
  }

  observe(name: string, value: number, labels: Labels = {}): void {
    const { metric, fitting } = this.#get(name, labels, this.#client.Histogram, { buckets: seconds })
    metric.observe(fitting, value)
  }

  readonly scrape = async () => ({ contentType: this.#registry.contentType, text: await this.#registry.metrics() })

  /** A measurement has the labels of its first use. Others are left out, for measuring must not break what is measured. */
  #get<M extends Counter | Gauge | Histogram>(
    name: string,
    labels: Labels,
    Kind: new (options: { name: string; help: string; labelNames: string[]; registers: Registry[]; buckets?: number[] }) => M,
    more: { buckets?: number[] } = {},
  ): { readonly metric: M; readonly fitting: Record<string, string> } {
    let made = this.#made.get(name) as Made<M> | undefined
    if (!made) {
      const labelNames = Object.keys(labels)
      const help = name.replaceAll('_', ' ')
      const metric = new Kind({ name: `pounce_${name}`, help, labelNames, registers: [this.#registry], ...more })
      made = { metric, labels: labelNames }
      this.#made.set(name, made)
    }
    return { metric: made.metric, fitting: Object.fromEntries(made.labels.map(label => [label, labels[label] ?? ''])) }
  }
}

/** Measurements for Prometheus, or none; the library is loaded only when they are wanted. */
export const createMetrics = async (isEnabled: boolean): Promise<KernelMetrics> =>
  isEnabled ? new PrometheusMetrics((await import('prom-client')).default) : noMetrics
