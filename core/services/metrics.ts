import type { Log, Metrics } from 'pounce/sdk'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Metrics that can be scraped. */
export interface KernelMetrics extends Metrics {
  /** The content of `/metrics`; absent if metrics are disabled. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
}

type Labels = Readonly<Record<string, string>>

const nothing = (): void => undefined

/** Discards all metrics. */
export const noMetrics: KernelMetrics = { count: nothing, gauge: nothing, observe: nothing }

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]

type Metric = Counter | Gauge | Histogram

interface MetricEntry {
  readonly metric: Metric
  readonly labels: readonly string[]
}

interface Found<M> {
  readonly metric: M
  readonly fitting: Record<string, string>
}

type Make<M extends Metric> = new (options: {
  name: string
  help: string
  labelNames: string[]
  registers: Registry[]
  buckets?: number[]
}) => M

const wordOf = (name: string): string => name.replace(/[^a-zA-Z0-9_]/g, '_')

/** Prometheus reserves names that start with two underscores, and `le` for histogram buckets. */
const labelOf = (name: string): string => {
  const word = wordOf(name).replace(/^_*(?=\d)|^__+|^$/, '_')
  return word === 'le' ? 'le_' : word
}

/** External plugins may pass values that are not strings. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? `${value}` : '')

/** Sanitizes names and drops invalid values, because metrics must not break the measured code. */
class PrometheusMetrics implements KernelMetrics {
  readonly #client: typeof import('prom-client')
  readonly #log: Log
  readonly #registry: Registry
  readonly #entries = new Map<string, MetricEntry>()
  readonly #refused = new Set<string>()

  constructor(client: typeof import('prom-client'), log: Log) {
    this.#client = client
    this.#log = log
    this.#registry = new client.Registry()
    client.collectDefaultMetrics({ register: this.#registry })
  }

  count(name: string, labels: Labels = {}, by = 1): void {
    if (!Number.isFinite(by) || by < 0) return
    const found = this.#get(name, labels, this.#client.Counter)
    found?.metric.inc(found.fitting, by)
  }

  gauge(name: string, value: number, labels: Labels = {}): void {
    if (!Number.isFinite(value)) return
    const found = this.#get(name, labels, this.#client.Gauge)
    found?.metric.set(found.fitting, value)
  }

  observe(name: string, value: number, labels: Labels = {}): void {
    if (!Number.isFinite(value)) return
    const found = this.#get(name, labels, this.#client.Histogram, { buckets: seconds })
    found?.metric.observe(found.fitting, value)
  }

  readonly scrape = async () => ({ contentType: this.#registry.contentType, text: await this.#registry.metrics() })

  /** A metric has the type and labels of its first use. Other labels are omitted; values of another type are dropped. */
  #get<M extends Metric>(name: string, labels: Labels, Kind: Make<M>, more: { buckets?: number[] } = {}): Found<M> | undefined {
    const word = `pounce_${wordOf(name)}`
    const given = new Map(Object.entries(labels).map(([label, value]) => [labelOf(label), textOf(value)]))
    let entry = this.#entries.get(word)
    if (!entry) {
      const labelNames = [...given.keys()]
      const help = wordOf(name).replaceAll('_', ' ') || word
      entry = { metric: new Kind({ name: word, help, labelNames, registers: [this.#registry], ...more }), labels: labelNames }
      this.#entries.set(word, entry)
    }
    if (!(entry.metric instanceof Kind)) return this.#refuse(name, word)
    return { metric: entry.metric, fitting: Object.fromEntries(entry.labels.map(label => [label, given.get(label) ?? ''])) }
  }

  #refuse(name: string, word: string): undefined {
    if (this.#refused.has(word)) return
    this.#refused.add(word)
    this.#log.warn('Metric dropped: its name is used by a metric of another type', { name })
  }
}

/** Prometheus metrics, or none; the library is only loaded if enabled. `log` gets one line for each misused name. */
export const createMetrics = async (isEnabled: boolean, log: Log): Promise<KernelMetrics> =>
  isEnabled ? new PrometheusMetrics((await import('prom-client')).default, log) : noMetrics
