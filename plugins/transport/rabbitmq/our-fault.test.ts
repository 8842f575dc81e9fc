import test from 'ava'
import { saysKeyWasRefused, saysNothing, saysWeWereAway } from './our-fault.ts'

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

test('what pyclowder says when we refused the key of its job, and when it was somebody else', t => {
  const said = (address: string) => `StatusMessage.error: 401 Client Error: Unauthorized for url: ${address}`
  t.true(saysKeyWasRefused(said('https://data.example.org/dm/api/files/1/metadata?key=secretKey'), host))
  t.true(saysKeyWasRefused(said('http://inner:9000/api/files/1?key=secretKey'), host))
  t.false(saysKeyWasRefused(said('https://elsewhere.example.org/login'), host))
  t.false(
    saysKeyWasRefused('StatusMessage.error: 403 Client Error: Forbidden for url: https://data.example.org/dm/api/x?key=secretKey', host),
  )
  t.true(saysNothing('StatusMessage.error: Error processing message.'))
  t.false(saysNothing('StatusMessage.error: Error processing message. Disk full'))
})
