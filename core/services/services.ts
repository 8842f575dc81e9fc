import { randomBytes } from 'node:crypto'
import { type Clock, Clock as ClockPort, type Ids, Ids as IdsPort, Installation, Mailer, Metrics } from 'pounce/sdk'
import { checkMail, type Mail, PluginSwitch } from 'pounce/sdk/kit'
import type { Config } from '../kernel/config.ts'
import { InstallationInfo } from './installation.ts'
import type { KernelLog } from './log.ts'
import { createMetrics, type KernelMetrics } from './metrics.ts'

/** The ports that the kernel provides to plugins, except their config and log. */
export interface Services {
  readonly values: ReadonlyMap<string, unknown>
  /** The ports in `values` that a plugin may replace. */
  readonly replaceable: ReadonlySet<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly metrics: KernelMetrics
  /** Name, URL and enabled plugins are set later. */
  readonly installation: InstallationInfo
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() }

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** ObjectIds: 4 bytes of seconds, 5 random bytes per kernel, and a 3-byte counter. Increasing even if the clock is set back. */
export class ObjectIds implements Ids {
  readonly #clock: Clock
  readonly #kernel = randomBytes(5).toString('hex')
  #second: number
  #counter: number

  /** `first`: the initial counter of the first second. */
  constructor(clock: Clock, first = 0) {
    this.#clock = clock
    this.#counter = first
    this.#second = Math.floor(clock.now().getTime() / 1000)
  }

  next(): string {
    const now = Math.floor(this.#clock.now().getTime() / 1000)
    if (now > this.#second) {
      this.#second = now
      this.#counter = 0
    } else if (this.#counter > 0xff_ff_ff) {
      this.#second += 1
      this.#counter = 0
    }
    const id = hex(this.#second, 8) + this.#kernel + hex(this.#counter, 6)
    this.#counter += 1
    return id
  }
}

/** Used without a mail plugin: logs the whole mail, including sign-up links, for the operator to forward. */
export class LogMailer implements Mailer {
  readonly #log: Pick<KernelLog, 'warnOpenly'>

  constructor(log: Pick<KernelLog, 'warnOpenly'>) {
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    this.#log.warnOpenly('Mail was not sent: no plugin provides mailer', { to: mail.to, subject: mail.subject, text: mail.text })
  }
}

/** Creates the ports that the kernel provides. `overrides` replace them and those of plugins. For tests. */
export const createServices = async (
  config: Config,
  log: KernelLog,
  switches: PluginSwitch,
  overrides: Readonly<Record<string, unknown>>,
): Promise<Services> => {
  const clock = (overrides[ClockPort] as Clock | undefined) ?? systemClock
  const ids = (overrides[IdsPort] as Ids | undefined) ?? new ObjectIds(clock)
  const metrics = await createMetrics(config.kernel.metrics.enabled, log.with({ plugin: 'metrics' }))
  const installation = new InstallationInfo(config.kernel, config.plugins)
  const values = new Map<string, unknown>([
    [ClockPort, clock],
    [IdsPort, ids],
    [Metrics, metrics],
    [Installation, installation],
    [PluginSwitch, switches],
    [Mailer, new LogMailer(log.with({ plugin: 'mailer' }))],
    ...Object.entries(overrides),
  ])
  return { values, replaceable: new Set([Mailer]), clock, ids, metrics, installation }
}
