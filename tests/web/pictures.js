// node pictures.js CHROMIUM FOLDER: pictures of the pages that scripts/make_pictures has put there.
import { join } from 'node:path';
import { drawAll, open, visit } from './browser.js';

const [, , program, folder] = process.argv;
const browser = await open(program);

/** Opens a page, does something, and takes what is then to be seen from a section on. */
async function picture({ page, name = page, scheme = 'light', section, height = 860, act }) {
  const view = await visit(browser, join(folder, `${page}.html`),
    { scheme, width: 1120, height });
  await drawAll(view);
  await act?.(view.page);
  await view.page.evaluate((id) => (id ? document.getElementById(id).scrollIntoView()
    : scrollTo(0, 0)), section);
  await view.page.waitForTimeout(600);
  await view.page.screenshot({ path: join(folder, `page-${name}.png`) });
  await view.context.close();
}

await picture({ page: 'report', height: 1180 });
await picture({
  page: 'report', name: 'layer', scheme: 'dark', section: 'timeline',
  act: async (page) => {
    await page.locator('#layers tbody tr[data-index]').nth(4).click();
    await page.locator('#timeline button', { hasText: 'Chosen layer' }).click();
  },
});
await picture({
  page: 'sweep', section: 'scatter', height: 1040,
  act: async (page) => {
    await page.locator('#scatter select').nth(2).selectOption({ label: 'area' });
    await page.locator('#front').scrollIntoViewIfNeeded();
    await page.locator('#front tbody button').nth(5).click();
  },
});
await picture({ page: 'compare', section: 'waterfall' });
await browser.close();
