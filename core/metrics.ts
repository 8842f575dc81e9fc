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

class PrometheusMetrics implements KernelMetrics {
  readonly #client: typeof import('prom-client')
  readonly #registry: Registry
  readonly #made = new Map<string, Counter | Gauge | Histogram>()

  constructor(client: typeof import('prom-client')) {
    this.#client = client
    this.#registry = new client.Registry()
    client.collectDefaultMetrics({ register: this.#registry })
  }

  count(name: string, labels: Labels = {}, by = 1): void {
    this.#get(name, labels, this.#client.Counter).inc(labels, by)
  }

  gauge(name: string, value: number, labels: Labels = {}): void {
    this.#get(name, labels, this.#client.Gauge).set(labels, value)
  }

  observe(name: string, value: number, labels: Labels = {}): void {
    this.#get(name, labels, this.#client.Histogram, { buckets: seconds }).observe(labels, value)
  }

  readonly scrape = async () => ({ contentType: this.#registry.contentType, text: await this.#registry.metrics() })

  #get<M extends Counter | Gauge | Histogram>(
    name: string,
    labels: Labels,
    Kind: new (options: { name: string; help: string; labelNames: string[]; registers: Registry[]; buckets?: number[] }) => M,
    more: { buckets?: number[] } = {},
  ): M {
    const known = this.#made.get(name)
    if (known) return known as M
    const help = name.replaceAll('_', ' ')
    const made = new Kind({ name: `pounce_${name}`, help, labelNames: Object.keys(labels), registers: [this.#registry], ...more })
    this.#made.set(name, made)
    return made
  }
}

/** Measurements for Prometheus, or none; the library is loaded only when they are wanted. */
export const createMetrics = async (isEnabled: boolean): Promise<KernelMetrics> =>
  isEnabled ? new PrometheusMetrics((await import('prom-client')).default) : noMetrics
