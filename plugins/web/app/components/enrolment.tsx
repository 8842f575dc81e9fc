import { useEffect, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { type Answer, api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { refreshSession, reloadRights, signOut } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'
import { Button, TextField } from './controls.tsx'
import { copyText } from './copy-text.tsx'
import { Dialog } from './dialog.tsx'
import { FormError, SubmitButton } from './form-parts.tsx'
import { late } from './late.tsx'
import { PasswordProof } from './step-up.tsx'

const QrCode = late(async () => (await import('./qr-code.tsx')).QrCode)

type Enrolment = Answer<'POST /api/second-factors/totp'>

const grouped = (secret: string): string => secret.replace(/(.{4})(?=.)/g, '$1 ')

/**
 * Where the server requires a second factor: sets one up, so that the account can be used. The recovery codes, which the server does not show again,
 * stay until the user closes them.
 */
export const EnrolmentDialog = ({
  codes,
  onCodes,
}: {
  readonly codes: readonly string[] | undefined
  readonly onCodes: (codes: readonly string[] | undefined) => void
}) => {
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const [code, setCode] = useState('')
  const { isBusy, error, run } = useAct()
  const begin = async (password: string): Promise<void> => setEnrolment(await api('POST /api/second-factors/totp', { body: { password } }))
  const confirm = async (): Promise<void> => {
    if (!enrolment) return
    const { recoveryCodes } = await api('POST /api/second-factors/totp/confirm', { body: { enrolment: enrolment.enrolment, code } })
    onCodes(recoveryCodes)
    await refreshSession()
  }
  // Also if the factor was set up in another tab.
  useEffect(() => reloadRights, [])
  useEffect(() => {
    if (!codes) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [codes])
  const leave = <Button onPress={() => void run(signOut)}>{t('signOut')}</Button>
  return (
    <Dialog title={t('enrolment.title')} isOpen onClose={() => undefined}>
      {codes ? (
        <>
          <p>{t('enrolment.codes')}</p>
          <pre className="recovery-codes">{codes.join('\n')}</pre>
          <div className="actions end">
            <Button icon="copy" onPress={() => void copyText(codes.join('\n'), t('copied'))}>
              {t('copy')}
            </Button>
            <Button look="filled" onPress={() => onCodes(undefined)}>
              {t('enrolment.kept')}
            </Button>
          </div>
        </>
      ) : enrolment ? (
        <Form
          className="form"
          onSubmit={event => {
            event.preventDefault()
            void run(confirm)
          }}
        >
          <p>{t('enrolment.secret')}</p>
          <QrCode text={enrolment.uri} label={t('enrolment.qrCode')} />
          <p>
            <code className="mono">{grouped(enrolment.secret)}</code>
          </p>
          <p className="prose">
            <a href={enrolment.uri}>{t('enrolment.open')}</a>
          </p>
          <TextField
            label={t('secondFactor.code')}
            autoComplete="one-time-code"
            inputMode="numeric"
            value={code}
            onChange={setCode}
            isRequired
          />
          <FormError text={error} />
          <div className="actions end">
            {leave}
            <SubmitButton isBusy={isBusy}>{t('enrolment.confirm')}</SubmitButton>
          </div>
        </Form>
      ) : (
        <>
          <p>{t('enrolment.text')}</p>
          <PasswordProof isBusy={isBusy} error={error} onProof={password => void run(() => begin(password))}>
            {leave}
          </PasswordProof>
        </>
      )}
    </Dialog>
  )
}
