import { type PlainPage, plainPage } from 'pounce/sdk/kit'

const script = `
const form = document.querySelector('form')
const statusLine = document.querySelector('[role=status]')
const base = location.pathname.replace(/\\/setup\\/?$/, '')
const address = location.origin + base
const leadOn = async ({ email, password }) => {
  const pair = String.fromCharCode(...new TextEncoder().encode(email + ':' + password))
  const answer = await fetch(base + '/api/users/keys?name=first%20key', { method: 'POST', headers: { authorization: 'Basic ' + btoa(pair) } })
  const { key } = answer.ok ? await answer.json() : {}
  if (key) document.querySelector('#key').textContent = key
  else document.querySelector('#key-part').hidden = true
  const call = "curl -H 'X-API-Key: " + (key ?? '…') + "' " + address + '/api/me'
  document.querySelector('#commands').textContent = ['pounce login ' + address, 'pounce put FOLDER "My dataset" --create', call].join('\\n')
  document.querySelector('#next').hidden = false
}
form.addEventListener('submit', async event => {
  event.preventDefault()
  const body = Object.fromEntries(new FormData(form))
  if ('private' in body) body.private = body.private === 'true'
  body.token = new URLSearchParams(location.search).get('token') ?? ''
  form.querySelector('button').disabled = true
  statusLine.textContent = 'One moment …'
  try {
    const answer = await fetch(location.pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    if (answer.ok) { form.hidden = true; history.replaceState(null, '', location.pathname) }
    statusLine.textContent = answer.ok ? 'Done. You can sign in now.' : (await answer.json()).message
    if (answer.ok) await leadOn(body)
  } catch (error) {
    statusLine.textContent = 'The server is unreachable.'
  }
  form.querySelector('button').disabled = false
})
`

const accessChoice = `<fieldset>
<legend>Who can read what is on this server?</legend>
<label><input type="radio" name="private" value="false" required> Everyone, without an account</label>
<label><input type="radio" name="private" value="true"> Only people with an account, and then what is theirs, in their spaces or made public</label>
</fieldset>
`

/**
 * The page behind the one-time setup link: creates the account and a key for it, and shows the next steps. Contains no data from the
 * request.
 */
export const setUpPage = (asksForAccess: boolean): PlainPage => plainPage('Set up Pounce', contentOf(asksForAccess), script)

const contentOf = (asksForAccess: boolean): string => `<p>This creates the first account, a server admin.</p>
<form>
<label>First name <input name="firstName" required maxlength="200" autocomplete="given-name"></label>
<label>Last name <input name="lastName" required maxlength="200" autocomplete="family-name"></label>
<label>Email <input name="email" type="email" required maxlength="320" autocomplete="username"></label>
<label>Password, at least 8 characters <input name="password" type="password" required minlength="8" maxlength="1000" autocomplete="new-password"></label>
${asksForAccess ? accessChoice : ''}<button>Make the account</button>
</form>
<p role="status"></p>
<div id="next" hidden>
<div id="key-part">
<h2>Your API key</h2>
<p>For programs. It has all rights of your account, and is shown only now.</p>
<pre id="key"></pre>
</div>
<h2>On the command line</h2>
<pre id="commands"></pre>
<p>The API is described at <a href="docs">docs</a>.</p>
</div>`
