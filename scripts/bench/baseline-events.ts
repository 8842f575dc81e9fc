/** Baseline for live events: streams on node:http; each POST writes the same text to all of them with `ServerResponse.write`. */
import http, { type ServerResponse } from 'node:http'

const streams: ServerResponse[] = []
const data = { id: '6741c1cfa7c0b8f0d5e4c3a1', name: 'for all' }
const event = {
  specversion: '1.0',
  source: 'http://127.0.0.1:9000',
  datacontenttype: 'application/json',
  id: '6741c1d2a7c0b8f0d5e4c3b2',
  type: 'dataset.created',
  subject: 'dataset/6741c1cfa7c0b8f0d5e4c3a1',
  time: new Date(0).toISOString(),
  data,
}
const text = Buffer.from(`id: 1.1\ndata: ${JSON.stringify(event)}\n\n`)

http
  .createServer((request, response) => {
    if (request.url?.startsWith('/api/live')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
      streams.push(response)
      return
    }
    request.resume().on('end', () => {
      response.end(JSON.stringify(data))
      if (request.method === 'POST') for (const stream of streams) stream.write(text)
    })
  })
  .listen(Number(process.env['POUNCE_HTTP__PORT']), '127.0.0.1')
