import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { type Answer, api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { passkeyFor } from '../lib/passkeys.ts'
import { useAct } from '../lib/use-act.ts'
import { Button, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { FormError, SubmitButton } from './form-parts.tsx'
import { FactorFields, SiteProviders } from './sign-in-form.tsx'

type Proof = { readonly password: string } | { readonly code?: string; readonly recoveryCode?: string }

/** Requires recent authentication before a sensitive action, which then continues. */
export const StepUpDialog = ({ methods, onEnd }: { readonly methods: readonly string[]; readonly onEnd: (isDone: boolean) => void }) => {
  const { isBusy, error, run } = useAct()
  const prove = async (body: Proof): Promise<void> => {
    await api('POST /api/sessions/step-up', { body })
    onEnd(true)
  }
  const byPasskey = async (): Promise<void> => {
    const { challenge, publicKey }: Answer<'POST /api/sessions/step-up/passkey'> = await api('POST /api/sessions/step-up/passkey')
    const passkey = await passkeyFor(publicKey)
    if (!passkey) return
    await api('POST /api/sessions/step-up', { body: { challenge, passkey } })
    onEnd(true)
  }
  const returnTo = useRouterState({ select: state => state.location.href })
  const hasFactor = methods.some(method => method === 'totp' || method === 'passkey' || method === 'recovery-code')
  const hasPassword = methods.includes('password')
  const leave = <Button onPress={() => onEnd(false)}>{t('cancel')}</Button>
  return (
    <Dialog title={t('stepUp.title')} isOpen onClose={() => onEnd(false)}>
      <p>{hasFactor ? t('stepUp.byFactor') : hasPassword ? t('stepUp.byPassword') : t('stepUp.bySite')}</p>
      {methods.includes('provider') && <SiteProviders returnTo={returnTo} />}
      {hasFactor ? (
        <FactorFields
          methods={methods}
          isBusy={isBusy}
          error={error}
          onProof={proof => void run(() => prove(proof))}
          onPasskey={() => void run(byPasskey)}
        >
          {leave}
        </FactorFields>
      ) : hasPassword ? (
        <PasswordProof isBusy={isBusy} error={error} onProof={password => void run(() => prove({ password }))}>
          {leave}
        </PasswordProof>
      ) : (
        <div className="actions end">{leave}</div>
      )}
    </Dialog>
  )
}

/** A form for the password of the account. */
export const PasswordProof = ({
  isBusy,
  error,
  onProof,
  children,
}: {
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly onProof: (password: string) => void
  readonly children?: ReactNode
}) => {
  const [password, setPassword] = useState('')
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        onProof(password)
      }}
    >
      <TextField
        label={t('password')}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        isRequired
        autoFocus
      />
      <FormError text={error} />
      <div className="actions end">
        {children}
        <SubmitButton isBusy={isBusy}>{t('continue')}</SubmitButton>
      </div>
    </Form>
  )
}
