// Image files: PNG and JPEG as Tensors, and datasets of the images in a directory, named as in keras.utils.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Data.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
/// The channels of a loaded image: three, four with alpha, or one.
enum class ColorMode : uint8_t { rgb, rgba, grayscale };
/// The resampling filter for resizing, with Pillow's results: the nearest pixel, or a weighted mean of the pixels that
/// a new pixel covers.
enum class Resample : uint8_t { nearest, bilinear, bicubic, hamming, box, lanczos };
/// The labels of an image dataset: int32 class indices, float32 one-hot vectors, float32 0 or 1, or none.
enum class LabelMode : uint8_t { integer, categorical, binary, none };
/// The part of a directory's images that a dataset contains; `none`: all.
enum class Subset : uint8_t { none, training, validation, both };
namespace detail {
template <> inline constexpr const char *choice_words<ColorMode>[] = {"rgb", "rgba", "grayscale"};
template <>
inline constexpr const char *choice_words<Resample>[] = {"nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"};
template <> inline constexpr const char *choice_words<LabelMode>[] = {"int", "categorical", "binary", "none"};
template <> inline constexpr const char *choice_words<Subset>[] = {"none", "training", "validation", "both"};
} // namespace detail

/// The labels: "inferred", the index of each image's directory; none; or one class per file, in the order of the files.
class ImageLabels {
public:
  template <size_t N> consteval ImageLabels(const char (&word)[N]) {
    if (std::string_view(word, N - 1) != "inferred")
      detail::this_word_is_not_one_of_the_words_of_the_argument();
  }
  ImageLabels(std::nullopt_t) : areNone_(true) {}
  ImageLabels(std::vector<int64_t> classes) : classes_(std::move(classes)) {}
  ImageLabels(std::initializer_list<int64_t> classes) : classes_(classes) {}
  bool are_none() const { return areNone_; }
  const std::optional<std::vector<int64_t>> &classes() const { return classes_; }

private:
  bool areNone_ = false;
  std::optional<std::vector<int64_t>> classes_{};
};

/// A Dataset of images, with the names of its classes and its files, in their order before shuffling.
class HALFTONE_API ImageDataset : public Dataset {
public:
  ImageDataset(Dataset dataset, std::vector<std::string> class_names, std::vector<std::string> file_paths);
  const std::vector<std::string> &class_names() const { return classNames_; } // empty without labels
  const std::vector<std::string> &file_paths() const { return filePaths_; }

private:
  std::vector<std::string> classNames_, filePaths_;
};

namespace utils {
struct LoadImgArgs {
  Choice<ColorMode> color_mode = ColorMode::rgb;
  std::optional<std::array<int64_t, 2>> target_size{}; // height and width
  Choice<Resample> interpolation = Resample::nearest;  // used if the image has another size
  bool keep_aspect_ratio = false; // first center-crops the image to the aspect ratio of target_size
};
/// Loads a PNG or JPEG file, whose format is detected from its first bytes: uint8 (height, width, channels).
/// libpng16.so.16 (Debian's libpng16-16) and libturbojpeg.so.0 (libturbojpeg0) decode the files; each library is loaded
/// on first use. io_error with the file and the reason: another format, a damaged file, more than 178956970 pixels, or
/// a missing library.
HALFTONE_API Tensor load_img(const std::string &path, const LoadImgArgs &args = {});

struct ImgToArrayArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::optional<DType> dtype{}; // floatx
};
/// Converts an image (height, width, channels) or (height, width) to the dtype and to (height, width, channels) or, for
/// channels_first, (channels, height, width). value_error for another rank.
HALFTONE_API Tensor img_to_array(const Tensor &img, const ImgToArrayArgs &args = {});

struct ArrayToImgArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last; // the data format of x
  bool scale = true;                                          // shifts and scales the values to the range from 0 to 255
};
/// The inverse of img_to_array(): uint8 (height, width, channels). Values are truncated and clamped to 0 to 255.
/// value_error unless the rank is 3 and there are 1, 3 or 4 channels.
HALFTONE_API Tensor array_to_img(const Tensor &x, const ArrayToImgArgs &args = {});

struct SaveImgArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::string file_format{}; // "png", "jpg" or "jpeg"; empty: from the extension of the path
  bool scale = true;         // as for array_to_img()
};
/// Writes array_to_img(x) as a PNG file, or as a JPEG file of quality 75 with chroma subsampled by 2 along both axes
/// and without alpha. value_error for another format; io_error if the file cannot be written, or libturbojpeg is
/// missing.
HALFTONE_API void save_img(const std::string &path, const Tensor &x, const SaveImgArgs &args = {});

struct ImageDatasetArgs {
  ImageLabels labels = "inferred";
  Choice<LabelMode> label_mode = LabelMode::integer;
  std::vector<std::string> class_names{}; // for "inferred": the directories to use, in this order; empty: all, sorted
  Choice<ColorMode> color_mode = ColorMode::rgb;
  std::optional<int64_t> batch_size = 32;         // none: single images
  std::array<int64_t, 2> image_size = {256, 256}; // height and width
  bool shuffle = true;                            // false: files are sorted by name
  std::optional<int64_t> seed{};                  // the seed of the shuffle
  std::optional<double> validation_split{};       // the fraction of the files for validation, at the end
  Choice<Subset> subset = Subset::none;
  Choice<Interpolation> interpolation = Interpolation::bilinear;
  bool follow_links = false; // also visits directories behind symbolic links
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false; // pads with zeros
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Loads the .png, .jpg and .jpeg files of a directory as batches of float32 images with labels. Each subdirectory is a
/// class, sorted by name; files in nested directories belong to it too. The order of files, the seeded shuffle before
/// the split, and the split are Keras's. HALFTONE_NUM_THREADS threads read one batch ahead; their count does not change
/// the batches. value_error as in Keras, and for a class that `class_names` lists twice; io_error for a directory that
/// cannot be read, and during iteration for a file, as for load_img().
HALFTONE_API ImageDataset image_dataset_from_directory(const std::string &directory, const ImageDatasetArgs &args = {});
/// The datasets for training and for validation, for the subset "both".
HALFTONE_API std::array<ImageDataset, 2> image_datasets_from_directory(const std::string &directory,
                                                                       const ImageDatasetArgs &args);
} // namespace utils
} // namespace halftone
