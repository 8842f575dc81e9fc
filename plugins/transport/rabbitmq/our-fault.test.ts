import test from 'ava'
import { saysWeWereAway } from './our-fault.ts'

const host = 'https://data.example.org/dm'

test('what pyclowder says when nobody of us answered', t => {
  const texts = [
    "StatusMessage.error: HTTPSConnectionPool(host='data.example.org', port=443): Max retries exceeded with url: /dm/api/files/1?key=secretKey (Caused by x)",
    'StatusMessage.error: 503 Server Error: Service Unavailable for url: https://data.example.org/dm/api/files/1/metadata?key=secretKey',
    "StatusMessage.error: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    "StatusMessage.error: HTTPConnectionPool(host='inner-name', port=9000): Read timed out. /api/files/1?key=secretKey",
    'StatusMessage.error: [Errno 111] Connection refused',
  ]
  for (const text of texts) t.true(saysWeWereAway(text, host), text)
})

test('other failures are the extractor’s own', t => {
  const texts = [
    'StatusMessage.error: Error processing message.',
    'StatusMessage.error: list index out of range',
    'StatusMessage.error: 404 Client Error: Not Found for url: https://data.example.org/dm/api/files/1?key=secretKey',
    "StatusMessage.error: HTTPSConnectionPool(host='models.example.com', port=443): Max retries exceeded with url: /v1/model",
    'StatusMessage.error: 503 Server Error: Busy for url: https://models.example.com/v1',
  ]
  for (const text of texts) t.false(saysWeWereAway(text, host), text)
  t.false(saysWeWereAway("HTTPConnectionPool(host='x', port=1): Read timed out.", undefined))
})
