import http from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** Requests `/healthz` every 5 ms on its own thread, unaffected by the load generator; posts the response times in milliseconds on request. */
const agent = new http.Agent({ keepAlive: true })
const times: number[] = []
let isOn = true
parentPort?.once('message', () => {
  isOn = false
})

const ask = (): Promise<void> =>
  new Promise((resolve, reject) => {
    http
      .get(`${workerData}/healthz`, { agent }, answer => {
        answer.resume()
        answer.on('end', resolve)
      })
      .on('error', reject)
  })

while (isOn) {
  const began = performance.now()
  await ask()
  times.push(performance.now() - began)
  await new Promise(resolve => setTimeout(resolve, 5))
}
agent.destroy()
parentPort?.postMessage(times)
