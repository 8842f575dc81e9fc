import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { ApiError, api, urlOf } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { canUsePasskeys, passkeyFor } from '../lib/passkeys.ts'
import { useSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'
import { Button, TextField } from './controls.tsx'
import { FormError, SubmitButton } from './form-parts.tsx'

interface SignInFormProps {
  /** A path of this server, for sign-in through another site. */
  readonly returnTo: string
  readonly onSignedIn: () => Promise<unknown>
  /** The email address of the user who was signed in before. */
  readonly email?: string | undefined
}

interface SecondStep {
  readonly challenge: string
  readonly methods: readonly string[]
  readonly publicKey: Readonly<Record<string, unknown>> | undefined
}

const secondStepOf = (error: unknown): SecondStep | undefined => {
  if (!(error instanceof ApiError) || error.code !== 'second-factor-required') return undefined
  const { challenge, methods, publicKey } = error.details
  return {
    challenge: String(challenge),
    methods: Array.isArray(methods) ? methods.map(String) : [],
    publicKey: publicKey as SecondStep['publicKey'],
  }
}

const useProviders = () => useQuery({ queryKey: ['providers'], queryFn: () => api('GET /api/login/providers') })

/** Links to the sites of external sign-in; the browser returns to a path of this server. */
export const SiteProviders = ({ returnTo }: { readonly returnTo: string }) => (
  <>
    {useProviders()
      .data?.filter(provider => provider.kind === 'site')
      .map(({ id, label }) => (
        <a key={id} className="button" href={urlOf(`/api/login/${encodeURIComponent(id)}`, { returnTo })}>
          {t('signInPage.with', { name: label })}
        </a>
      ))}
  </>
)

/** All sign-in methods of this server: password, second factor, passkey, and other sites. */
export const SignInForm = ({ returnTo, onSignedIn, email }: SignInFormProps) => {
  const session = useSession()
  const providers = useProviders()
  const [second, setSecond] = useState<SecondStep>()
  if (second) return <SecondFactorForm step={second} onSignedIn={onSignedIn} onBack={() => setSecond(undefined)} />
  const sites = providers.data?.filter(provider => provider.kind === 'site') ?? []
  const hasPassword = providers.data?.some(provider => provider.kind === 'password') ?? true
  // The page on which the session ended stays open.
  const opening = email === undefined ? {} : { target: '_blank' }
  return (
    <div className="sign-in">
      {hasPassword && <PasswordForm email={email} onSecondStep={setSecond} onSignedIn={onSignedIn} />}
      {(sites.length > 0 || canUsePasskeys()) && (
        <div className="other-doors">
          {hasPassword && <p className="faded">{t('signInPage.or')}</p>}
          {canUsePasskeys() && <PasskeyButton onSignedIn={onSignedIn} />}
          <SiteProviders returnTo={returnTo} />
        </div>
      )}
      <ul className="form-links">
        {hasPassword && (
          <li>
            <Link to="/reset" {...opening}>
              {t('signInPage.forgotten')}
            </Link>
          </li>
        )}
        {session && session.capabilities.signUp !== 'off' && (
          <li>
            <Link to="/signup" {...opening}>
              {t('signInPage.signUp')}
            </Link>
          </li>
        )}
      </ul>
    </div>
  )
}

const PasswordForm = ({
  email: known,
  onSecondStep,
  onSignedIn,
}: Pick<SignInFormProps, 'email' | 'onSignedIn'> & { readonly onSecondStep: (step: SecondStep) => void }) => {
  // In a directory, people may have user names.
  const acceptsNames = useProviders().data?.some(({ id, kind }) => kind === 'password' && id !== 'userpass') ?? false
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const { isBusy, error, run } = useAct()
  const submit = async (): Promise<void> => {
    try {
      await api('POST /api/login', { body: { email, password } })
    } catch (failure) {
      const step = secondStepOf(failure)
      if (!step) throw failure
      onSecondStep(step)
      return
    }
    await onSignedIn()
  }
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(submit)
      }}
    >
      <TextField
        label={t(acceptsNames ? 'signInPage.emailOrName' : 'email')}
        name="email"
        type={acceptsNames ? 'text' : 'email'}
        autoComplete="username"
        value={email}
        onChange={setEmail}
        isRequired
        autoFocus={known === undefined}
      />
      <TextField
        label={t('password')}
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        isRequired
        autoFocus={known !== undefined}
      />
      <FormError text={error} />
      <SubmitButton isBusy={isBusy}>{t('signIn')}</SubmitButton>
    </Form>
  )
}

const PasskeyButton = ({ onSignedIn }: Pick<SignInFormProps, 'onSignedIn'>) => {
  const { isBusy, error, run } = useAct()
  const signIn = async (): Promise<void> => {
    const { challenge, publicKey } = await api('POST /api/login/passkey/options')
    const passkey = await passkeyFor(publicKey)
    if (!passkey) return
    await api('POST /api/login/passkey', { body: { challenge, passkey } })
    await onSignedIn()
  }
  return (
    <>
      <Button isPending={isBusy} onPress={() => void run(signIn)}>
        {t('signInPage.withPasskey')}
      </Button>
      <FormError text={error} />
    </>
  )
}

/** The proof of the second factor: a code, a recovery code or a passkey. */
export interface FactorProof {
  readonly code?: string
  readonly recoveryCode?: string
}

interface FactorFieldsProps {
  readonly methods: readonly string[]
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly onProof: (proof: FactorProof) => void
  readonly onPasskey?: (() => void) | undefined
  readonly children?: ReactNode
}

/** Asks for the code of the app, or a recovery code, or a passkey: what the account has. */
export const FactorFields = ({ methods, isBusy, error, onProof, onPasskey, children }: FactorFieldsProps) => {
  const hasCode = methods.includes('totp')
  const [isRecovery, setRecovery] = useState(!hasCode)
  const [code, setCode] = useState('')
  const isCodeRequested = hasCode || methods.includes('recovery-code')
  const hasPasskey = onPasskey !== undefined && methods.includes('passkey') && canUsePasskeys()
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        onProof(isRecovery ? { recoveryCode: code.trim() } : { code: code.replace(/\s/g, '') })
      }}
    >
      {hasPasskey && (
        <Button onPress={onPasskey} isPending={isBusy}>
          {t('secondFactor.usePasskey')}
        </Button>
      )}
      {isCodeRequested && (
        <TextField
          key={String(isRecovery)}
          label={isRecovery ? t('secondFactor.recoveryCode') : t('secondFactor.code')}
          help={isRecovery ? t('secondFactor.recoveryHelp') : t('secondFactor.codeHelp')}
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          value={code}
          onChange={setCode}
          isRequired
          autoFocus
        />
      )}
      {hasCode && methods.includes('recovery-code') && (
        <Button
          look="quiet"
          onPress={() => {
            setRecovery(!isRecovery)
            setCode('')
          }}
        >
          {isRecovery ? t('secondFactor.useCode') : t('secondFactor.useRecoveryCode')}
        </Button>
      )}
      <FormError text={error} />
      <div className="actions">
        {children}
        {isCodeRequested && <SubmitButton isBusy={isBusy}>{t('continue')}</SubmitButton>}
      </div>
    </Form>
  )
}

const SecondFactorForm = ({
  step: { challenge, methods, publicKey },
  onSignedIn,
  onBack,
}: {
  readonly step: SecondStep
  readonly onSignedIn: () => Promise<unknown>
  readonly onBack: () => void
}) => {
  const { isBusy, error, run } = useAct()
  const byPasskey = async (): Promise<void> => {
    const passkey = publicKey && (await passkeyFor(publicKey))
    if (!passkey) return
    await api('POST /api/login/second-factor', { body: { challenge, passkey } })
    await onSignedIn()
  }
  const byCode = async (proof: FactorProof): Promise<void> => {
    await api('POST /api/login/second-factor', { body: { challenge, ...proof } })
    await onSignedIn()
  }
  return (
    <section className="sign-in" aria-label={t('secondFactor.title')}>
      <p>{t('secondFactor.text')}</p>
      <FactorFields
        methods={methods}
        isBusy={isBusy}
        error={error}
        onProof={proof => void run(() => byCode(proof))}
        onPasskey={publicKey && (() => void run(byPasskey))}
      >
        <Button onPress={onBack}>{t('back')}</Button>
      </FactorFields>
    </section>
  )
}
