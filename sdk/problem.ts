/**
 * A refusal that a person can act on. Thrown anywhere; the kernel alone turns it into a response
 * `{status: "error", message, code, requestId}`. Anything else that is thrown is a bug and answered with a bare 500.
 */
export class Problem extends Error {
  readonly status: number
  /** Stable and for programs, such as `not-found`. */
  readonly code: string
  /** Seconds after which trying again makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Further members of the answer, for clients that read Clowder's own shapes. Never secrets. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    options?: { cause?: unknown; retryAfterSeconds?: number; details?: Readonly<Record<string, unknown>> },
  ) {
    // A plugin in plain JavaScript may give anything here; the refusal must not become an error of its own.
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.status = status
    this.code = code
    this.retryAfterSeconds = options?.retryAfterSeconds
    this.details = options?.details
  }
}

type Options = ConstructorParameters<typeof Problem>[3]

/** 400: the request is wrong. The message says what was wrong and what would be right. */
export class Invalid extends Problem {
  constructor(message: string, options?: Options) {
    super(400, 'invalid', message, options)
  }
}

/** 401: no credentials were sent, or those of an account that may not be used. */
export class NotSignedIn extends Problem {
  constructor(message = 'Sign in or send a valid API key in the X-API-Key header', options?: Options) {
    super(401, 'not-signed-in', message, options)
  }
}

/**
 * 401: a credential that is wrong, expired, revoked or cannot be read. Where a request brought none that is right, the kernel answers as to
 * no one in particular, and with this where no one in particular is refused.
 */
export class WrongCredentials extends NotSignedIn {
  constructor(message = 'Invalid credentials', options?: Options) {
    super(message, options)
  }
}

/** True of a refusal after which another credential of the same request may still be right. */
export const isWrongCredential = (error: unknown): error is Problem =>
  error instanceof WrongCredentials || error instanceof SecondFactorRequired || error instanceof TooMany

/** 403: the caller may view the resource and may not do this to it. */
export class Forbidden extends Problem {
  constructor(message: string, options?: Options) {
    super(403, 'forbidden', message, options)
  }
}

/** 403: nothing goes before the caller has accepted the terms of service, which have the code of their own so that a page can show them. */
export class TermsNotAccepted extends Problem {
  constructor(message = 'Terms of Service not accepted', options?: Options) {
    super(403, 'terms-not-accepted', message, options)
  }
}

/** 401: the password was right, and the account has a second factor that has to be shown as well. */
export class SecondFactorRequired extends Problem {
  constructor(message: string, options?: Options) {
    super(401, 'second-factor-required', message, options)
  }
}

/** 403: the server requires a second factor of this account, which has none yet. */
export class SecondFactorEnrolmentRequired extends Problem {
  constructor(message = 'Second factor required: enrol one at /api/second-factors', options?: Options) {
    super(403, 'second-factor-enrolment-required', message, options)
  }
}

/** 403: the session has to authenticate again before it may do this. */
export class StepUpRequired extends Problem {
  constructor(message: string, options?: Options) {
    super(403, 'step-up-required', message, options)
  }
}

/** 404 of a resource. One body for malformed, unknown and invisible ids, so that it reveals nothing. */
export class NotFound extends Problem {
  constructor(kind: string, options?: Options) {
    super(404, 'not-found', `${kind.charAt(0).toUpperCase()}${kind.slice(1)} not found or not accessible`, options)
  }
}

/** 409: the resource changed meanwhile, exists already, or is not in the state that this needs. */
export class Conflict extends Problem {
  constructor(message: string, options?: Options) {
    super(409, 'conflict', message, options)
  }
}

/** 409: the resource lies in the trash, where it is read, restored or deleted for good and nothing else. */
export class InTrash extends Problem {
  constructor(kind: string, options?: Options) {
    const isHolder = kind === 'dataset' || kind === 'collection'
    const what = isHolder ? 'Restore it first' : 'Restore its dataset or collection first'
    super(409, 'in-trash', `This ${kind} is in the trash and read-only. ${what}`, options)
  }
}

/** 413: more bytes, parts or entries than the limit that the message names. */
export class TooLarge extends Problem {
  constructor(message: string, options?: Options) {
    super(413, 'too-large', message, options)
  }
}

/** 415: a body of a media type that the route does not read. */
export class Unsupported extends Problem {
  constructor(message: string, options?: Options) {
    super(415, 'unsupported-media-type', message, options)
  }
}

/**
 * 422: another server that the caller named is unavailable, slow, or breaks off. It is no fault of ours (no 503) and none of the request's form (no 400):
 * another address will do, or the same one later.
 */
export class Unreachable extends Problem {
  constructor(message: string, options?: Options) {
    super(422, 'unreachable-source', message, options)
  }
}

/** 429: too many tries; `retryAfterSeconds` says how long to wait. */
export class TooMany extends Problem {
  constructor(message: string, retryAfterSeconds: number) {
    super(429, 'too-many-requests', message, { retryAfterSeconds })
  }
}

/** 503: a part that this needs is unavailable. Trying again later is right. */
export class Unavailable extends Problem {
  constructor(message: string, options?: Options) {
    super(503, 'unavailable', message, { retryAfterSeconds: 5, ...options })
  }
}

/** 507: no space is left where bytes or records are kept. Nothing was changed. */
export class NoSpace extends Problem {
  constructor(message = 'No storage space left; nothing was stored', options?: Options) {
    super(507, 'no-space', message, { retryAfterSeconds: 30, ...options })
  }
}

/** 500: stored bytes do not match the digest taken when they came in. They are never delivered as if they were right. */
export class CorruptContent extends Problem {
  constructor(message = 'The stored bytes are damaged', options?: Options) {
    super(500, 'content-corrupt', message, options)
  }
}
