#pragma once
#include <string>
#include <string_view>

namespace accsim::sim {

/// `text` as HTML text or the value of a quoted attribute.
std::string html_escape(std::string_view text);

/// What a page is made of. web/src/main.js has a view a kind: report, compare, sweep, serve.
struct HtmlPage {
  std::string kind;
  std::string title;     ///< of the window
  std::string data;      ///< a JSON object: all that the view knows
  std::string fallback;  ///< HTML shown where scripts don't run; escaped by whoever makes it
  bool live = false;     ///< served by accsim: may ask its own server
};

/// One file with everything in it: data, style and script of web/dist. Its policy lets nothing else
/// run and, unless live, lets nothing leave the page.
std::string html_page(const HtmlPage& page);

/// A page of `body`, HTML that is escaped by whoever makes it, with the style of web/dist. Its
/// policy lets no script run and nothing be loaded.
std::string plain_page(std::string_view title, const std::string& body);

}  // namespace accsim::sim
