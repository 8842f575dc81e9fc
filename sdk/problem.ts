/**
 * An expected error with an HTTP status. Can be thrown anywhere; the kernel turns it into the response `{status: "error", message, code, requestId}`. Any other
 * error is a bug and results in a bare 500.
 */
export class Problem extends Error {
  readonly status: number
  /** Stable, for programs: `not-found`. */
  readonly code: string
  /** Seconds to wait before a retry; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Additional members of the response, for clients that expect Clowder's own format. Never secrets. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    options?: { cause?: unknown; retryAfterSeconds?: number; details?: Readonly<Record<string, unknown>> },
  ) {
    // A plugin written in JavaScript may pass anything here; that must not cause another error.
    super(message, options?.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.status = status
    this.code = code
    this.retryAfterSeconds = options?.retryAfterSeconds
    this.details = options?.details
  }
}

type Options = ConstructorParameters<typeof Problem>[3]

/** 400: the request is invalid. The message states what was wrong and what is expected. */
export class Invalid extends Problem {
  constructor(message: string, options?: Options) {
    super(400, 'invalid', message, options)
  }
}

/** 401: no credentials were sent, or the account may not be used. */
export class NotSignedIn extends Problem {
  constructor(message = 'Sign in or send a valid API key in the X-API-Key header', options?: Options) {
    super(401, 'not-signed-in', message, options)
  }
}

/**
 * 401: a credential is wrong, expired, revoked or malformed. If a request has no valid credential, the kernel treats it as anonymous and responds with this
 * problem where anonymous callers are refused.
 */
export class WrongCredentials extends NotSignedIn {
  constructor(message = 'Invalid credentials', options?: Options) {
    super(message, options)
  }
}

/** True for a problem after which another credential of the same request may still be valid. */
export const isWrongCredential = (error: unknown): error is Problem =>
  error instanceof WrongCredentials || error instanceof SecondFactorRequired || error instanceof TooMany

/** 403: the caller may view the resource but lacks the permission for this action. */
export class Forbidden extends Problem {
  constructor(message: string, options?: Options) {
    super(403, 'forbidden', message, options)
  }
}

/** 403: the caller has to accept the terms of service first. Has its own code so that a page can show them. */
export class TermsNotAccepted extends Problem {
  constructor(message = 'Terms of Service not accepted', options?: Options) {
    super(403, 'terms-not-accepted', message, options)
  }
}

/** 401: the password was correct, but the account also requires its second factor. */
export class SecondFactorRequired extends Problem {
  constructor(message: string, options?: Options) {
    super(401, 'second-factor-required', message, options)
  }
}

/** 403: the server requires a second factor for this account, and none is enrolled yet. */
export class SecondFactorEnrolmentRequired extends Problem {
  constructor(message = 'Second factor required: enrol one at /api/second-factors', options?: Options) {
    super(403, 'second-factor-enrolment-required', message, options)
  }
}

/** 403: the session has to authenticate again first. */
export class StepUpRequired extends Problem {
  constructor(message: string, options?: Options) {
    super(403, 'step-up-required', message, options)
  }
}

/** 404 for a resource. The response is the same for malformed, unknown and invisible ids, so that it reveals nothing. */
export class NotFound extends Problem {
  constructor(kind: string, options?: Options) {
    super(404, 'not-found', `${kind.charAt(0).toUpperCase()}${kind.slice(1)} not found or not accessible`, options)
  }
}

/** 409: the resource was changed concurrently, already exists, or is not in the required state. */
export class Conflict extends Problem {
  constructor(message: string, options?: Options) {
    super(409, 'conflict', message, options)
  }
}

/** 409: the resource is in the trash, where it can only be read, restored or permanently deleted. */
export class InTrash extends Problem {
  constructor(kind: string, options?: Options) {
    const isHolder = kind === 'dataset' || kind === 'collection'
    const what = isHolder ? 'Restore it first' : 'Restore its dataset or collection first'
    super(409, 'in-trash', `This ${kind} is in the trash and read-only. ${what}`, options)
  }
}

/** 413: exceeds the limit on bytes, parts or entries that the message names. */
export class TooLarge extends Problem {
  constructor(message: string, options?: Options) {
    super(413, 'too-large', message, options)
  }
}

/** 415: the route does not accept the media type of the body. */
export class Unsupported extends Problem {
  constructor(message: string, options?: Options) {
    super(415, 'unsupported-media-type', message, options)
  }
}

/**
 * 422: a server named by the caller is unreachable, slow, or closed the connection. Neither this server (503) nor the syntax of the request (400) is at fault:
 * retry later or with another address.
 */
export class Unreachable extends Problem {
  constructor(message: string, options?: Options) {
    super(422, 'unreachable-source', message, options)
  }
}

/** 429: too many attempts; `retryAfterSeconds` is the time to wait. */
export class TooMany extends Problem {
  constructor(message: string, retryAfterSeconds: number) {
    super(429, 'too-many-requests', message, { retryAfterSeconds })
  }
}

/** 503: a required component is unavailable; retry later. */
export class Unavailable extends Problem {
  constructor(message: string, options?: Options) {
    super(503, 'unavailable', message, { retryAfterSeconds: 5, ...options })
  }
}

/** 507: no storage space is left for bytes or records. Nothing was changed. */
export class NoSpace extends Problem {
  constructor(message = 'No storage space left; nothing was stored', options?: Options) {
    super(507, 'no-space', message, { retryAfterSeconds: 30, ...options })
  }
}

/** True for an error that means that a service is unavailable or full (503 or 507), so that the same call may succeed later. */
export const isOutage = (error: unknown): boolean => error instanceof Problem && (error.status === 503 || error.status === 507)

/** 500: stored bytes do not match the digest computed when they were received. Such bytes are never delivered as if they were intact. */
export class CorruptContent extends Problem {
  constructor(message = 'The stored bytes are damaged', options?: Options) {
    super(500, 'content-corrupt', message, options)
  }
}
