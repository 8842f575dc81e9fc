import test from 'ava'
import { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoServerSelectionError, MongoStalePrimaryError } from 'mongodb'
import { NoSpace, TooLarge, Unavailable } from 'pounce/sdk'
import { refusalOf } from './mongodb-connection.ts'
import { problemOf } from './problems.ts'

const refused = (code: number, message = 'no') => new MongoServerError({ ok: 0, code, errmsg: message })

test('errors of an unavailable, slow or non-primary server become Unavailable', t => {
  const errors = [
    new MongoNetworkError('connection closed'),
    refused(10107, 'not primary'),
    refused(11600, 'interrupted at shutdown'),
    refused(50, 'operation exceeded time limit'),
    refused(64, 'waiting for replication timed out'),
    Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' }),
    Object.assign(new Error('away'), { name: MongoServerSelectionError.name }),
    // The only network error of the driver that is not exported. Its name does not contain `MongoNetworkError`.
    Object.assign(new Error('interrupted due to server monitor timeout'), { name: 'PoolClearedOnNetworkError' }),
    new MongoStalePrimaryError('primary marked stale'),
    Object.assign(new Error('connection 428 closed'), { name: MongoBulkWriteError.name }),
  ]
  for (const error of errors) {
    const problem = problemOf(error)
    t.true(problem instanceof Unavailable, error.message)
    t.is(problem.cause, error)
  }
})

test('a full disk becomes NoSpace, an oversized document TooLarge, and other errors are unchanged', t => {
  t.true(problemOf(refused(14031, 'out of disk space')) instanceof NoSpace)
  t.true(problemOf(refused(10334, 'BSONObjectTooLarge')) instanceof TooLarge)
  const bug = new TypeError('x is not a function')
  t.is(problemOf(bug), bug)
})

test('the error of a failed start names the setting and never contains the password', t => {
  const uri = 'mongodb://app:s3cr@t/pw@db.example.org:27017/?replicaSet=rs0'
  const cases: readonly (readonly [error: Error, words: RegExp])[] = [
    [
      refused(18, 'Authentication failed.'),
      /^documents\.mongodb\.uri: the server at db\.example\.org:27017 refuses this user and password/,
    ],
    [refused(13, 'not authorized on pounce'), /^documents\.mongodb\.uri: .* does not let this user read and write the database pounce/],
    [
      new MongoNetworkError(`connect ECONNREFUSED, as ${uri} says`),
      /^documents\.mongodb\.uri: no server can be used at db\.example\.org:27017/,
    ],
    [new Error(`Invalid connection string "${uri}", s3cr@t/pw`), /^documents\.mongodb\.uri: invalid connection string/],
  ]
  for (const [error, words] of cases) {
    const { message } = refusalOf(error, uri, 'pounce')
    t.regex(message, words)
    t.notRegex(message, /s3cr/)
  }
})
