import { expect, it } from 'vitest'
import { describeInBrowser, findings, openPicture, show } from './browser.test-helper.ts'
import {
  blockedRun,
  cachedRun,
  deepRun,
  hostileRun,
  hostileTexts,
  longRun,
  nestedRun,
  pausedRun,
  richRun,
} from './golden.test-helper.ts'
import { pictureOf } from './views/picture-of.ts'

/** Run in the page: inserts what is hostile as markup and as elements, and counts what throws. */
const insertAll = `async (corpus) => {
  let refused = 0
  const attempt = (work) => {
    try {
      work()
    } catch {
      refused++
    }
  }
  for (const markup of corpus) attempt(() => (document.body.innerHTML += markup))
  const insert = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields))
  const image = document.createElement('img')
  attempt(() => image.setAttribute('onerror', 'window.hit = 1'))
  image.src = 'data:image/png;base64,AAAA'
  document.body.append(image)
  insert('img', { src: 'https://example.org/a.png' })
  insert('iframe', { src: 'https://example.org/' })
  insert('link', { rel: 'stylesheet', href: 'https://example.org/a.css' })
  insert('style', { textContent: 'body { display: none }' })
  const link = document.createElement('a')
  attempt(() => (link.href = 'javascript:window.hit = 1'))
  document.body.append(link)
  link.click()
  attempt(() => insert('script', { text: 'window.hit = 1' }))
  await new Promise((resolve) => setTimeout(resolve, 200))
  if (getComputedStyle(document.body).display === 'none') window.hit = 'style'
  return { hit: window.hit, refused }
}`

const views = ['request', 'stream', 'result', 'events']

describeInBrowser('the page of a run', () => {
  it('shows how the run ended, what it took, and each call with its middlewares', async () => {
    const { page, problems, requests } = await openPicture(await richRun())

    expect(await page.title()).toBe('helper: completed')
    expect(await page.locator('.why').innerText()).toBe(
      'The model answered after 2 model calls and 2 tool calls.',
    )
    expect(await page.locator('.stats').innerText()).toMatch(/Model calls\s+2\s+Tool calls\s+2/)
    expect(await page.locator('#tree .label').allInnerTexts()).toEqual([
      'helper',
      'tell',
      'Model call 1',
      'again',
      'note',
      'shout',
      'scripted m-1',
      'Tool 1: look',
      'policy',
      'look',
      'Tool 2: look',
      'policy',
      'Model call 2',
      'again',
      'note',
      'shout',
      'scripted m-1',
    ])
    expect(problems).toEqual([])
    expect([...requests].filter((url) => !url.startsWith('file:'))).toEqual([])
  })

  it('shows the request as the provider saw it, and what each middleware changed', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.1&show=request' })
    const body = page.locator('#detail-body')

    expect(await body.innerText()).toContain('Answer in English.')
    expect(await body.innerText()).toContain('Be brief.')
    await body.getByRole('button', { name: 'note' }).click()
    expect(await body.locator('.message.added').innerText()).toContain('Be brief.')
    expect(await body.locator('del').innerText()).toContain('Help.')
    await body.getByRole('button', { name: 'As it came in' }).click()
    expect(await body.innerText()).not.toContain('Be brief.')
    await body.getByRole('button', { name: 'again' }).click()
    expect(await body.innerText()).toContain('again passed the request on as it was.')
  })

  it('shows what the request of a call has that the one before it had not', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.4&show=request' })
    const body = page.locator('#detail-body')

    await body.getByRole('button', { name: 'Since call 1' }).click()

    expect(await body.locator('.message.added .role').allInnerTexts()).toEqual([
      'assistant',
      'tool',
    ])
    expect(await body.innerText()).toContain('1 message unchanged')
  })

  it('shows an answer from a cache, and a run that paused with the one that continued it', async () => {
    const cached = await openPicture(await cachedRun())
    const paused = await openPicture(await pausedRun())

    expect(await cached.page.locator('#tree').innerText()).toMatch(/answered by itself/)
    expect(await cached.page.locator('#tree').innerText()).toContain('no provider call')
    expect(await paused.page.locator('.why').innerText()).toContain('waits for an answer')
    await paused.page.getByLabel('Run').selectOption('1')
    expect(await paused.page.locator('.why').innerText()).toContain('The model answered')
    expect(await paused.page.locator('#tree').innerText()).toContain('Tool 1: pay')
  })

  it('takes every word of a run from the recording, in any view, after a reload', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.4.2&show=result' })

    await page.reload()

    expect(await page.locator('.row[aria-selected="true"] .label').innerText()).toBe('shout')
    expect(await page.getByRole('tab', { name: 'Result' }).getAttribute('aria-selected')).toBe(
      'true',
    )
  })

  it('zooms by buttons and by dragging over the times, and shows the whole run again', async () => {
    const { page } = await openPicture(await richRun())
    const whole = page.getByRole('button', { name: 'Whole run' })
    const { x, y, width, height } = (await page.locator('#axis').boundingBox())!

    await page.getByRole('button', { name: 'Zoom in' }).click()
    expect(await whole.isVisible()).toBe(true)
    await whole.click()
    expect(await whole.isVisible()).toBe(false)
    await page.mouse.move(x + width * 0.2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.6, y + height / 2)
    await page.mouse.up()
    expect(await whole.isVisible()).toBe(true)
    await page.locator('#axis').dblclick({ position: { x: 5, y: 5 } })
    expect(await whole.isVisible()).toBe(false)
  })

  it('copies a request as JSON', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.1&show=request' })

    await page.evaluate(`document.addEventListener('copy', () => {
      globalThis.copied = document.activeElement.value
    })`)
    await page.getByRole('button', { name: 'Copy request' }).click()

    expect(await page.getByRole('button', { name: 'Copied' }).count()).toBe(1)
    const copied = JSON.parse(await page.evaluate<string>('globalThis.copied'))
    expect(copied).toMatchObject({ messages: [{ role: 'user' }, { role: 'user' }] })
  })

  it('shows in lanes what passed, what was changed and what was discarded', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.4&show=stream' })

    expect(await page.locator('.lane b').allInnerTexts()).toEqual([
      'From the provider',
      'After shout',
      'After note',
      'After again',
    ])
    expect(await page.locator('.lane figcaption').first().innerText()).toContain('discarded')
    const moments = await page.locator('.moment pre').allInnerTexts()
    expect(moments).toEqual(['One Two three four.', 'ONE TWO THREE FOUR.'])
    expect(await page.locator('.moment del').first().innerText()).toBe('One ')
    await page.locator('#moment').fill('0')
    expect((await page.locator('.moment pre').allInnerTexts()).join('')).not.toContain('four')
  })

  it('shows tools, verdicts, retries, money and events', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.run&show=events' })
    const rows = page.locator('.events tbody tr')

    expect(await rows.count()).toBe(2)
    expect(await rows.first().innerText()).toMatch(/cache\s+status miss/)
    await page.locator('#event-type').selectOption('budget')
    expect(await rows.allInnerTexts()).toHaveLength(1)
    expect(await page.locator('#tree').innerText()).toContain('2 attempts')
    expect(await page.locator('#tree').innerText()).toContain('answered by itself')
    expect(await page.locator('.stats').innerText()).toMatch(/Cost\s+\$0\.0/)
  })

  it('leads to the block of a guardrail, and shows a sub-agent under its tool call', async () => {
    const blocked = await openPicture(await blockedRun())
    const nested = await openPicture(await nestedRun())

    expect(await blocked.page.locator('.why').innerText()).toContain(
      'The guardrail no-words blocked the output',
    )
    expect(await blocked.page.locator('.row[aria-selected="true"]').innerText()).toContain(
      'Model call 1',
    )
    const levels = await nested.page
      .locator('.row.run')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-level')))
    expect(levels).toEqual(['1', '4'])
  })

  it('works by keyboard alone', async () => {
    const { page } = await openPicture(await richRun(), { hash: '#at=1.run&show=request' })
    const selected = async () => await page.locator('.row[aria-selected="true"] .label').innerText()

    await page.keyboard.press('j')
    await page.keyboard.press('ArrowDown')
    expect(await selected()).toBe('Model call 1')
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('.row[aria-selected="true"]').getAttribute('aria-expanded')).toBe(
      'false',
    )
    await page.keyboard.press('n')
    expect(await selected()).toBe('Tool 1: look')
    await page.keyboard.press('3')
    expect(await page.getByRole('tab', { name: 'Result' }).getAttribute('aria-selected')).toBe(
      'true',
    )
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('four')
    expect(await page.locator('#found').innerText()).toBe('1 call')
    await page.keyboard.press('Enter')
    expect(await selected()).toBe('Model call 2')
    expect(page.url()).toContain('at=1.4')
    await page.keyboard.press('?')
    expect(await page.locator('dialog').isVisible()).toBe(true)
  })

  it('tells a screen reader levels, states and times', async () => {
    const { page } = await openPicture(await richRun())
    const tree = await page.locator('#tree').ariaSnapshot()

    expect(tree).toContain('treegrid "Calls and the middleware inside of them"')
    expect(tree).toMatch(
      /row .*Model call 1.*\[expanded\].*\[level=2\].*\[selected\]|row .*Model call 1.*\[expanded\] \[level=2\]/,
    )
    expect(tree).toMatch(/gridcell ".* in all, .* of its own"/)
  })

  it.each([
    ['desktop', {}],
    ['phone', { viewport: { width: 360, height: 740 } }],
    ['dark', { colorScheme: 'dark' as const }],
    ['forced colors', { forcedColors: 'active' as const }],
    ['twice the size', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
  ])('has no finding of axe and no sideways scrolling: %s', async (_, options) => {
    const { page } = await openPicture(await richRun(), options)

    for (const view of views) {
      await show(page, `at=1.4&show=${view}`)
      const root = 'document.documentElement'
      const sideways = await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)
      expect([view, await findings(page), sideways]).toEqual([view, [], 0])
    }
  })

  it.each([1280, 768, 360])('fits a deep onion into %i pixels', async (width) => {
    const { page } = await openPicture(await deepRun(), { viewport: { width, height: 740 } })

    const root = 'document.documentElement'
    expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0)
  })

  it('prints the calls and the selected one, without controls', async () => {
    const { page } = await openPicture(await richRun())

    await page.emulateMedia({ media: 'print' })

    expect(await page.locator('.tools').isVisible()).toBe(false)
    expect(await page.locator('#tree').isVisible()).toBe(true)
    expect(await page.locator('#detail-body').isVisible()).toBe(true)
  })

  it('shows 40 calls with 20,000 updates, and searches them', async () => {
    const recording = await longRun()
    const { page } = await openPicture(recording)

    const rows = await page.locator('.row.model').count()
    await page.evaluate(`{
      const input = document.getElementById('search')
      input.value = 'needle39'
      input.dispatchEvent(new Event('input'))
    }`)

    expect(rows).toBe(40)
    expect(await page.locator('#found').innerText()).toBe('1 call')
    await page.getByRole('tab', { name: 'Stream' }).click()
    await page.locator('.all-updates summary').click()
    expect(await page.locator('.update').count()).toBeLessThan(200)
  })

  it('opens recordings that are empty or cut off', async () => {
    const recording = await richRun()
    for (const part of [
      '',
      '\n',
      recording.slice(0, 900),
      recording.slice(0, -300),
      recording.slice(1500),
      '{"k":"run","v":2,"t":0,"r":1}\n',
    ]) {
      const { page, problems } = await openPicture(part)
      expect([part.length, problems]).toEqual([part.length, []])
      expect(await page.locator('h1').count()).toBe(1)
      await page.close()
    }
  })
})

describeInBrowser('a hostile run', () => {
  it('stays text wherever it is shown', async () => {
    const { page, problems, requests } = await openPicture(await hostileRun())

    for (const at of ['1.run', '1.1', '1.1.0', '1.2', '1.3']) {
      for (const view of views) {
        await show(page, `at=${at}&show=${view}`)
        const shown = await page.locator('#detail').innerText()
        expect([at, view, shown.length > 10]).toEqual([at, view, true])
        expect(
          await page
            .locator('#detail img, #detail iframe, #detail script, #head img, base, form')
            .count(),
        ).toBe(0)
      }
    }
    expect([await page.evaluate('globalThis.hit'), problems, requests.size]).toEqual([
      undefined,
      [],
      1,
    ])
  })

  it('is also refused by the policy, should it become elements', async () => {
    const { page, requests } = await openPicture(await richRun())

    const { hit, refused } = await page.evaluate<{ hit: unknown; refused: number }>(
      `(${insertAll})(${JSON.stringify(hostileTexts)})`,
    )

    expect(hit).toBeUndefined()
    expect(refused).toBe(hostileTexts.length + 2)
    expect([...requests].filter((url) => url.startsWith('http'))).toEqual([])
  })

  it('never ends the element that holds the data', async () => {
    const html = pictureOf(await hostileRun())
    const data = html.slice(
      html.indexOf('id="data">'),
      html.indexOf('</script>', html.indexOf('id="data">')),
    )

    expect(data.slice(10)).not.toMatch(/[<>&\u2028\u2029]/)
  })
})
