import { type Caller, type CallerUser, Forbidden, signedIn } from 'pounce/sdk'

/** The person behind a request that deals with their own account: not an extractor in their name, nor a key that reaches less far than they do. */
export const accountOwner = (caller: Caller): CallerUser => {
  if (caller.scope !== 'full' || caller.limits !== undefined) throw new Forbidden('This key cannot deal with the account of its user')
  return signedIn(caller)
}
