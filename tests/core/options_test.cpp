// SPDX-License-Identifier: MIT
#include "udv/core/options.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"

namespace udv {
namespace options_test {

enum class Fruit { kApple, kPear };

struct Basket {
  bool ripe = false, wash = true;
  int count = 3;
  Index grams = 250;
  std::uint64_t seed = 0;
  double price = 0.5, share = 1;
  int boxes = 0;
  std::string label;
  std::optional<double> discount;
  std::vector<std::string> shops{"a", "b"};
  std::vector<Index> sizes;
  std::optional<std::pair<Index, Index>> shape;
  std::vector<std::string> notes;
  Fruit fruit = Fruit::kPear;
  std::string custom = "x";
};

void describe(OptionTable& table, Basket& basket) {
  table.group("Fruit");
  table.add("ripe", basket.ripe, "Only ripe ones");
  table.add("wash", basket.wash, "Wash them").as_switch_word();
  table.add("count", basket.count, "How many").between(1, 9);
  table.add("grams", basket.grams, "Weight").at_least(1).measured_in("grams");
  table.add("seed", basket.seed, "Seed");
  table.group("Money");
  table.add("price", basket.price, "Price").positive();
  table.add("share", basket.share, "Share").share().keeps_numbers();
  table.add("boxes", basket.boxes, "Boxes").between(1, 5).word("auto", 0);
  table.add("label", basket.label, "Label").called("FILE");
  table.add("discount", basket.discount, "Discount");
  table.add("shops", basket.shops, "Shops");
  table.add("sizes", basket.sizes, "Sizes");
  table.add("shape", basket.shape, "Shape");
  table.add_each("notes", basket.notes, "Notes").is_input();
  table.add("fruit", basket.fruit, {{"apple", Fruit::kApple}, {"pear", Fruit::kPear}}, "Kind");
  table.add_custom(
      "custom",
      [&basket](const std::string& text) {
        require(text != "bad", "'bad' found, anything else expected");
        basket.custom = text;
      },
      [&basket]() -> Setting { return basket.custom; }, "Anything");
}

class Options : public ::testing::Test {
 protected:
  Options() { describe(table_, basket_); }

  std::string problem(const std::string& name, const std::string& text) {
    try {
      table_.set(name, text);
    } catch (const OptionError& error) {
      EXPECT_EQ(error.what(), error.name() + ": " + error.problem());
      return error.what();
    }
    return "";
  }

  Basket basket_;
  OptionTable table_;
};

TEST_F(Options, EveryKindIsSet) {
  for (const auto& [name, text] :
       std::vector<std::pair<std::string, std::string>>{{"ripe", "true"},
                                                        {"wash", "off"},
                                                        {"count", "9"},
                                                        {"grams", "1000000000000"},
                                                        {"price", "1e-3"},
                                                        {"share", "0.25"},
                                                        {"boxes", "5"},
                                                        {"label", "a b.txt"},
                                                        {"discount", "0"},
                                                        {"shops", "x,,y,"},
                                                        {"sizes", "3,0"},
                                                        {"shape", "4,5"},
                                                        {"fruit", "apple"},
                                                        {"custom", "thing"},
                                                        {"notes", "one"},
                                                        {"notes", "two"},
                                                        {"seed", "18446744073709551615"}})
    EXPECT_EQ(problem(name, text), "") << name;
  EXPECT_TRUE(basket_.ripe);
  EXPECT_FALSE(basket_.wash);
  EXPECT_EQ(basket_.count, 9);
  EXPECT_EQ(basket_.grams, 1000000000000);
  EXPECT_EQ(basket_.seed, 18446744073709551615u);
  EXPECT_EQ(basket_.price, 1e-3);
  EXPECT_EQ(basket_.share, 0.25);
  EXPECT_EQ(basket_.boxes, 5);
  EXPECT_EQ(basket_.label, "a b.txt");
  EXPECT_EQ(basket_.discount, 0);
  EXPECT_EQ(basket_.shops, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(basket_.sizes, (std::vector<Index>{3, 0}));
  EXPECT_EQ(basket_.shape, (std::pair<Index, Index>{4, 5}));
  EXPECT_EQ(basket_.notes, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(basket_.fruit, Fruit::kApple);
  EXPECT_EQ(basket_.custom, "thing");
}

TEST_F(Options, WordsStandForValues) {
  EXPECT_EQ(problem("boxes", "4"), "");
  EXPECT_EQ(problem("boxes", "auto"), "");
  EXPECT_EQ(basket_.boxes, 0);
  EXPECT_EQ(problem("discount", "2.5"), "");
  EXPECT_EQ(problem("discount", "auto"), "");
  EXPECT_FALSE(basket_.discount);
}

struct Refused {
  std::string name, text, problem;
};

TEST_F(Options, WhatMakesNoSenseIsRefusedInWords) {
  for (const Refused& c : std::vector<Refused>{
           {"ripe", "yes", "ripe: 'yes' found, true or false expected"},
           {"wash", "true", "wash: 'true' found, on or off expected"},
           {"count", "0", "count: '0' found, a whole number from 1 to 9 expected"},
           {"count", "10", "count: '10' found, a whole number from 1 to 9 expected"},
           {"count", "1.5", "count: '1.5' found, a whole number from 1 to 9 expected"},
           {"count", "99999999999",
            "count: '99999999999' found, a whole number from 1 to 9 expected"},
           {"grams", "0", "grams: '0' found, a whole number of at least 1 expected"},
           {"grams", "", "grams: '' found, a whole number of at least 1 expected"},
           {"seed", "-1", "seed: '-1' found, a whole number from 0 to 2^64 - 1 expected"},
           {"price", "0", "price: '0' found, a positive number expected"},
           {"price", "nan", "price: 'nan' found, a positive number expected"},
           {"price", "inf", "price: 'inf' found, a positive number expected"},
           {"price", "1 ", "price: '1 ' found, a positive number expected"},
           {"share", "1.01", "share: '1.01' found, a share above 0 and up to 1 expected"},
           {"boxes", "6", "boxes: '6' found, 'auto' or a whole number from 1 to 5 expected"},
           {"boxes", "0", "boxes: '0' found, 'auto' or a whole number from 1 to 5 expected"},
           {"discount", "-1", "discount: '-1' found, 'auto' or a number of at least 0 expected"},
           {"sizes", "1,-2",
            "sizes: '-2' found, whole numbers from 0, with commas between them, expected"},
           {"shape", "4", "shape: '4' found, rows,columns, each from 1 to 2147483647, expected"},
           {"shape", "0,4",
            "shape: '0,4' found, rows,columns, each from 1 to 2147483647, expected"},
           {"shape", "4,5,6",
            "shape: '4,5,6' found, rows,columns, each from 1 to 2147483647, expected"},
           {"fruit", "plum", "fruit: 'plum' found, one of apple, pear expected"},
           {"custom", "bad", "custom: 'bad' found, anything else expected"},
           {"conut", "1", "conut: no such setting; did you mean count?"},
           {"aeroplane", "1", "aeroplane: no such setting"}})
    EXPECT_EQ(problem(c.name, c.text), c.problem);
  EXPECT_EQ(basket_.count, 3) << "a refused value must not be kept";
  EXPECT_TRUE(basket_.sizes.empty());
}

TEST_F(Options, KnowTheirGroupsValuesAndDefaults) {
  EXPECT_EQ(table_.find("count")->group, "Fruit");
  EXPECT_EQ(table_.find("price")->group, "Money");
  EXPECT_EQ(table_.find("count")->default_text, "3");
  EXPECT_EQ(table_.find("wash")->default_text, "on");
  EXPECT_EQ(table_.find("boxes")->default_text, "auto");
  EXPECT_EQ(table_.find("shops")->default_text, "a,b");
  EXPECT_EQ(table_.find("fruit")->default_text, "pear");
  EXPECT_EQ(table_.find("fruit")->choices, (std::vector<std::string>{"apple", "pear"}));
  EXPECT_EQ(table_.find("grams")->unit, "grams");
  EXPECT_EQ(table_.find("label")->value_name, "FILE");
  EXPECT_TRUE(table_.find("ripe")->is_switch);
  EXPECT_FALSE(table_.find("wash")->is_switch);
  EXPECT_TRUE(table_.find("notes")->positional);
  EXPECT_EQ(table_.find("nothing"), nullptr);
  EXPECT_EQ(table_.find(""), nullptr);
}

TEST_F(Options, ThatMustBeGivenAreMissingUntilTheyAre) {
  EXPECT_EQ(table_.missing(), "notes");
  table_.set("notes", "one");
  EXPECT_EQ(table_.missing(), "");
}

TEST_F(Options, AreRecordedAsUsed) {
  const auto config = table_.config();
  EXPECT_EQ(config.at("ripe"), Setting(false));
  EXPECT_EQ(config.at("wash"), Setting(std::string("on")));
  EXPECT_EQ(config.at("count"), Setting(std::int64_t{3}));
  EXPECT_EQ(config.at("price"), Setting(0.5));
  EXPECT_EQ(config.at("boxes"), Setting(std::string("auto")));
  EXPECT_EQ(config.at("discount"), Setting(std::string("auto")));
  EXPECT_EQ(config.at("shops"), Setting(std::string("a,b")));
  EXPECT_FALSE(config.contains("label")) << "empty texts are left out";
  EXPECT_FALSE(config.contains("shape"));
  table_.set("boxes", "2");
  EXPECT_EQ(table_.config().at("boxes"), Setting(std::string("2")));
}

TEST_F(Options, ThatDecideTheNumbersMakeTheFingerprint) {
  const std::string before = table_.fingerprint();
  EXPECT_EQ(before.find("share"), before.npos);
  EXPECT_NE(before.find("; count 3; "), before.npos) << before;
  table_.set("share", "0.5");
  EXPECT_EQ(table_.fingerprint(), before);
  table_.set("price", "0.75");
  EXPECT_NE(table_.fingerprint(), before);
}

TEST_F(Options, OfASharedTableCanBeTakenOut) {
  table_.remove({"count", "notes"});
  EXPECT_EQ(table_.find("count"), nullptr);
  EXPECT_EQ(table_.missing(), "");
  EXPECT_FALSE(table_.config().contains("count"));
  EXPECT_EQ(problem("count", "3"), "count: no such setting");
  EXPECT_EQ(problem("price", "2"), "") << "the others stay as they were";
  EXPECT_EQ(basket_.price, 2);
}

TEST_F(Options, SurviveAMoveOfTheTable) {
  OptionTable moved = std::move(table_);
  moved.set("count", "7");
  EXPECT_EQ(basket_.count, 7);
  try {
    moved.set("count", "70");
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_EQ(error.name(), "count");
  }
}

TEST(TableOf, DescribesTheDefaults) {
  EXPECT_EQ(table_of<Basket>().find("price")->default_text, "0.5");
}

TEST(NearestName, FindsTyposAndNothingElse) {
  const std::vector<std::string> known{"complete", "sense", "phase", "max-rank", "max-iterations"};
  EXPECT_EQ(nearest_name("complte", known), "complete");
  EXPECT_EQ(nearest_name("cmoplete", known), "complete");
  EXPECT_EQ(nearest_name("max-rnk", known), "max-rank");
  EXPECT_EQ(nearest_name("phas", known), "phase");
  EXPECT_EQ(nearest_name("train", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), known), "");
  EXPECT_EQ(did_you_mean("sens", known), "; did you mean sense?");
  EXPECT_EQ(did_you_mean("zzz", known), "");
}

TEST(CommaWords, LeaveEmptyOnesOut) {
  EXPECT_EQ(comma_words("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(comma_words(",a,,"), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(comma_words("").empty());
}

TEST(SettingsText, JoinsNamesAndValues) {
  EXPECT_EQ(settings_text({{"b", std::int64_t{2}}, {"a", std::string("x")}}), "a x; b 2");
  EXPECT_EQ(settings_text({}), "");
}

TEST(Option, ThatMayStandAloneKnowsWhatItThenMeans) {
  enum class Skin { kOff, kThin, kThick };
  Skin skin = Skin::kOff;
  OptionTable table;
  table
      .add("skin", skin, {{"off", Skin::kOff}, {"thin", Skin::kThin}, {"thick", Skin::kThick}},
           "Skin of a fruit")
      .when_bare("thin");
  EXPECT_EQ(table.find("skin")->bare_word, "thin");
  table.set("skin", "thick");
  EXPECT_EQ(skin, Skin::kThick);
  table.set("skin", "true");
  EXPECT_EQ(skin, Skin::kThin);
  table.set("skin", "false");
  EXPECT_EQ(skin, Skin::kOff);
  EXPECT_THROW(table.set("skin", "soft"), OptionError);
}

}  // namespace options_test
}  // namespace udv
