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
    options: { cause?: unknown; retryAfterSeconds?: number; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = new.target.name
    this.status = status
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.details = options.details
  }
}

type Options = ConstructorParameters<typeof Problem>[3]

/** 400: the request is wrong. The message says what was wrong and what would be right. */
export class Invalid extends Problem {
  constructor(message: string, options?: Options) {
    super(400, 'invalid', message, options)
  }
}

/** 401: no credential, or a wrong, expired or revoked one. */
export class NotSignedIn extends Problem {
  constructor(message = 'Sign in, or send a valid API key in the X-API-Key header', options?: Options) {
    super(401, 'not-signed-in', message, options)
  }
}

/** 403: the caller may see the thing and may not do this to it. */
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

/** 404 of a resource. One body for malformed, unknown and invisible ids, so that nothing can be learned from it. */
export class NotFound extends Problem {
  constructor(kind: string, options?: Options) {
    super(404, 'not-found', `There is no ${kind} with this id, or you may not see it`, options)
  }
}

/** 409: the thing changed meanwhile, exists already, or is not in the state that this needs. */
export class Conflict extends Problem {
  constructor(message: string, options?: Options) {
    super(409, 'conflict', message, options)
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
 * 422: another server that the caller named is away, slow, or breaks off. It is no fault of ours (no 503) and none of the request's form (no 400):
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

/** 503: a part that this needs is away. Trying again later is right. */
export class Unavailable extends Problem {
  constructor(message: string, options?: Options) {
    super(503, 'unavailable', message, { retryAfterSeconds: 5, ...options })
  }
}

/** 507: no space is left where bytes or records are kept. Nothing was changed. */
export class NoSpace extends Problem {
  constructor(message = 'The server has no space left; nothing was stored', options?: Options) {
    super(507, 'no-space', message, { retryAfterSeconds: 30, ...options })
  }
}

/** 500: stored bytes do not match the digest taken when they came in. They are never delivered as if they were right. */
export class CorruptContent extends Problem {
  constructor(message = 'The stored bytes are damaged', options?: Options) {
    super(500, 'content-corrupt', message, options)
  }
}
