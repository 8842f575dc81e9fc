import type { MongoClient } from 'mongodb'

/** How long a check of a server may take besides the driver's own time-outs, in milliseconds. */
const graceMs = 1000

interface Limits {
  readonly connectTimeoutMS: number
  readonly heartbeatFrequencyMS: number
}

/**
 * Calls `onHang`, once, when the driver no longer checks a server: a check neither succeeded nor failed within the driver's own time-outs.
 *
 * That happens when a connection ends just as a check begins. `Connection.writeCommand` of mongodb 7.9 then waits for `drain` on a socket
 * that is destroyed already, without a time-out; the monitor checks nothing any more, and no server can be selected until the client is replaced.
 */
export const watchMonitors = (client: MongoClient, { connectTimeoutMS, heartbeatFrequencyMS }: Limits, onHang: () => void): void => {
  const checks = new Map<string, NodeJS.Timeout>()
  let hasHung = false
  const begin = (address: string, limitMs: number): void => {
    end(address)
    if (!hasHung) checks.set(address, setTimeout(hang, limitMs).unref())
  }
  const end = (address: string): void => {
    clearTimeout(checks.get(address))
    checks.delete(address)
  }
  const hang = (): void => {
    hasHung = true
    for (const address of checks.keys()) end(address)
    onHang()
  }
  client.on('serverHeartbeatStarted', ({ connectionId, awaited }) =>
    begin(connectionId, connectTimeoutMS + (awaited ? heartbeatFrequencyMS : 0) + graceMs),
  )
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => end(connectionId))
  client.on('serverHeartbeatFailed', ({ connectionId }) => end(connectionId))
  client.on('serverClosed', ({ address }) => end(address))
}
