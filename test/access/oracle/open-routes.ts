import type { Outcast } from '../callers.ts'

/** Routes that never look at who asks: a wrong credential does no harm there. */
const blindToCallers: ReadonlySet<string> = new Set([
  ...['login', 'logout', 'getSetUp', 'setUpFirstAdmin', 'getFileByLink', 'getBaseContext'],
  ...[
    'askForReset',
    'finishReset',
    'finishSignUp',
    'getReset',
    'getSignUp',
    'signUp',
    'startSignIn',
    'finishSignIn',
    'listSignInProviders',
  ],
])

/** What goes before the terms of service are accepted: to read them, to accept them, to see who one is. */
const beforeTerms: ReadonlySet<string> = new Set(['getMe', 'acceptTerms', 'getConfiguration'])

/** True where somebody who is not let in anywhere is let in. */
export const isOpenTo = (caller: Outcast, route: string): boolean =>
  blindToCallers.has(route) || (caller === 'termsPending' && beforeTerms.has(route))
