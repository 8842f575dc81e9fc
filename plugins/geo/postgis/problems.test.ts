import test from 'ava'
import { Invalid, NoSpace, NotFound, Unavailable } from 'pounce/sdk'
import { isDeadlock, problemOf, stateOf } from './problems.ts'

/** An error of the server, as the driver reports it. */
const serverError = (code: string, message = 'words of the server'): Error => Object.assign(new Error(message), { code, severity: 'ERROR' })
const ofSystem = (code: string): Error => Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code })

test('errors of the server and the driver are mapped to problems, with the original as cause', t => {
  const expected: readonly (readonly [Error, abstract new (...args: never[]) => Error])[] = [
    [serverError('53100'), NoSpace],
    [serverError('58030', 'could not extend file "base/1/2": No space left on device'), NoSpace],
    [serverError('53300', 'sorry, too many clients already'), Unavailable],
    [serverError('57014', 'canceling statement due to statement timeout'), Unavailable],
    [serverError('57P01'), Unavailable],
    [serverError('57P03'), Unavailable],
    [serverError('08006'), Unavailable],
    [serverError('25006'), Unavailable],
    [serverError('42501'), Unavailable],
    [serverError('28P01'), Unavailable],
    [serverError('GEO01', 'A point enters too many bins'), Invalid],
    [serverError('22003'), Invalid],
    [ofSystem('ECONNREFUSED'), Unavailable],
    [ofSystem('ECONNRESET'), Unavailable],
    [ofSystem('EPIPE'), Unavailable],
    [new Error('Connection terminated unexpectedly'), Unavailable],
    [new Error('timeout exceeded when trying to connect'), Unavailable],
  ]
  for (const [error, type] of expected) {
    const problem = problemOf(error)
    t.true(problem instanceof type, `${error.message}: ${problem.name}`)
    t.is(problem.cause, error)
  }
})

test('internal errors and problems are returned unchanged', t => {
  for (const error of [serverError('42601'), serverError('42P01'), new TypeError('no'), new NotFound('point')])
    t.is(problemOf(error), error)
  t.is(problemOf('odd').message, 'odd')
})

test('only errors of the server have an SQLSTATE', t => {
  t.is(stateOf(serverError('40P01')), '40P01')
  t.is(stateOf(ofSystem('EPIPE')), undefined)
  t.true(isDeadlock(serverError('40P01')))
  t.false(isDeadlock(serverError('23505')))
})
