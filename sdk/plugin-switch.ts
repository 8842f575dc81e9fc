import { port } from './port.ts'

/** A plugin of this installation, and whether it is switched on. */
export interface PluginState {
  /** The name that the configuration gives it: its id, unless it is loaded a second time. */
  readonly id: string
  readonly summary: string
  /** Absent where the plugin's package names none. */
  readonly version?: string
  /** `built-in`, the name of a package, or a folder. */
  readonly source: string
  /** It is switched while the server runs; any other that can be switched at all, at the next start. */
  readonly isSwitchable: boolean
  /** Why it cannot be switched at all. */
  readonly refusal?: string
  /** As chosen: what holds after the next start at the latest. */
  readonly isEnabled: boolean
  /** What holds now, on the kernel that was asked. */
  readonly isRunning: boolean
  readonly isHealthy: boolean
  /** What is wrong, or a note for operators. */
  readonly message?: string
  /** Events kept for its consumers while it does not run. */
  readonly waitingEvents: number
}

/** Switches plugins on and off. The choice is durable and holds for all kernels of the installation. */
export interface PluginSwitch {
  /** In the order of start. */
  list(): Promise<readonly PluginState[]>
  /**
   * Switches one on or off: at once, for a plugin that can be switched while the server runs, once its requests and handlers have ended; others at the next start.
   * `actor`: who does it, for the audit log. Rejects with `NotFound` for an unknown plugin and with `Conflict` for one that cannot be switched, or does not start.
   */
  set(id: string, isEnabled: boolean, actor?: string): Promise<PluginState>
}
export const PluginSwitch = port<PluginSwitch>('pluginSwitch')
