// The registry of user metrics that files and compile() may name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/metrics/MetricImpl.h"
#include "runtime/base/ConfigAccess.h"

namespace halftone {
using namespace detail;

namespace {

using Make = std::function<Metric(const Config &)>;

ClassRegistry<Make> &registry() {
  static auto &metrics = *new ClassRegistry<Make>({"metric", "update_state()", "register_metric"});
  return metrics;
}

/// A copy of the created metric with the name and dtype of the config, if it has them.
std::shared_ptr<MetricImpl> withFields(const Metric &made, const Config &config) {
  FieldReader reader(config);
  MetricArgs args;
  reader.read(args, std::tuple{Field{"name", &MetricArgs::name}, Field{"dtype", &MetricArgs::dtype}});
  const MetricImpl &impl = *made.impl();
  if (!impl.rule)
    throw Error(ErrorKind::value_error, fmt::format("a registered function returned the metric '{}', whose kind only "
                                                    "compile() determines: return a metric of a specific class",
                                                    impl.name));
  const std::string name = args.name.empty() ? impl.name : args.name;
  const DType dtype = args.dtype.empty() ? impl.dtype : args.dtype.get().compute_dtype();
  const std::shared_ptr<MetricImpl> metric = makeMetric(name, dtype, impl.rule->another());
  metric->className = impl.className;
  metric->ownConfig = impl.ownConfig;
  if (!impl.rule->isUsers()) // a function: only the config has its fields
    for (const std::string &key : reader.left())
      ConfigAccess::set(metric->ownConfig, key, ConfigAccess::json(config).at(key));
  return metric;
}

} // namespace

void register_metric(const std::string &registered_name, Make make) {
  if (isNameOfMetric(registered_name))
    throw Error(
        ErrorKind::value_error,
        fmt::format("'{0}' is the name of a built-in metric: register yours as \"package>{0}\"", registered_name));
  registry().add(registered_name, std::move(make));
}

std::optional<Metric> detail::registeredMetric(const Config &config) {
  std::string registered = registeredNameIn(config);
  if (registered.empty())
    registered = foreignClassIn(config);
  if (registered.empty())
    return std::nullopt;
  const Config fields = config.get_object("config");
  const std::shared_ptr<MetricImpl> metric = withFields(registry().factoryOf(registered)(fields), fields);
  metric->registeredName = registered;
  return Metric(metric);
}

std::function<std::shared_ptr<MetricImpl>()> detail::registeredByName(const std::string &name) {
  const std::optional<std::string> registered = registry().has(name) ? name : registry().nameOf(name);
  if (!registered)
    return {};
  return [name = name.substr(name.find('>') + 1), make = registry().factoryOf(*registered)] {
    Config config;
    config.set("name", name);
    return withFields(make(config), config);
  };
}

Config detail::savedUsersMetric(const Metric &metric) {
  const MetricImpl &impl = *metric.impl();
  const std::string &className = impl.className;
  const std::string registered =
      impl.registeredName.empty() ? registry().nameOf(className).value_or("") : impl.registeredName;
  if (registered.empty())
    throw Error(
        ErrorKind::value_error,
        fmt::format("No config can hold a metric of class {0}: register it with register_metric<{0}>(\"package\")",
                    className));
  Config saved = serializedObject("", registered.substr(registered.find('>') + 1), metric.get_config());
  saved.set_null("module");
  saved.set("registered_name", registered);
  return saved;
}

} // namespace halftone
